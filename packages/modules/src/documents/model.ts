import type { Instant } from '@counterfoil/kernel';
import type { Language } from './locale/texts.ts';

/** A person or an organisation on a document. */
export interface Party {
  readonly name: string;
  /** Address, e-mail address and numbers, each on a line of its own. */
  readonly lines: readonly string[];
}

/** A word and its value. */
export interface Fact {
  readonly label: string;
  readonly value: string;
}

export interface Column {
  readonly label: string;
  /** Figures stand at the end of their column, so that their digits are under each other. */
  readonly isFigure: boolean;
  /** Its part of the width; those of a table add up to 100. */
  readonly share: number;
}

export interface Row {
  /** One text for each column. */
  readonly cells: readonly string[];
  /** Further lines under the first cell. */
  readonly notes: readonly string[];
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** The text in place of rows. */
  readonly whenEmpty: string;
}

export interface Total extends Fact {
  /** True for the figures that people look for. */
  readonly isMain: boolean;
}

/** The proof that a document comes from this service, and the facts that it proves. */
export interface Proof {
  readonly label: string;
  readonly code: string;
  /** The facts as the check wants them, on one line. */
  readonly facts: string;
  readonly explanation: string;
}

/**
 * A document in words, before it is laid out: everything is localised, and the renderers decide nothing but places.
 * All its texts are plain; each renderer escapes them its own way.
 */
export interface DocumentModel {
  readonly language: Language;
  /** The name of the file, without what tells its kind. */
  readonly fileName: string;
  /** The kind of document, in the words of its language. */
  readonly heading: string;
  readonly title: string;
  /** A word across each page; null for none. */
  readonly watermark: string | null;
  readonly issuer: Party;
  readonly recipientLabel: string;
  readonly recipient: Party;
  readonly facts: readonly Fact[];
  readonly table: Table;
  readonly totals: readonly Total[];
  readonly notes: readonly string[];
  /** Null where nothing is proved, as of a draft. */
  readonly proof: Proof | null;
  /** The line at the foot of each page of a PDF. */
  readonly pageOf: (page: string, pages: string) => string;
  /** The instant that counts as that of the making, so that the same document has the same bytes. */
  readonly issuedAt: Instant;
}
