import type { AnyProjection } from '@counterfoil/engine/define';
import type { AnyAggregate, Decision, IdPrefix } from '@counterfoil/kernel';
import type { Entry, SimpleSection } from './schema.ts';

/** A field in which an entry names a record of another section by its key. */
export interface Reference {
  readonly section: SimpleSection;
  /** The field's name in the record itself. */
  readonly field: string;
}

/** An event of any aggregate, as an import records it. */
export interface AnyEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A record of any kind, as its aggregate folds it. */
export interface AnyRecord {
  readonly id: string;
  readonly status: string;
}

/**
 * A section of the file: the form of its records, and the commands that make and change them. Their
 * fields, and which of them may change, are the business of the records' own slice.
 */
export interface Kind {
  readonly section: SimpleSection;
  readonly aggregate: AnyAggregate;
  readonly table: AnyProjection;
  readonly prefix: IdPrefix;
  /** The field that only one published record has, and under which name it is claimed. */
  readonly unique: {
    readonly field: string;
    readonly claim: string;
    readonly caseless: boolean;
  } | null;
  readonly references: Readonly<Record<string, Reference>>;
  /** Fields that an entry may have beside references. */
  readonly fields: readonly string[];
  /** Fields that may change after the record has been made. */
  readonly changeable: readonly string[];
  /** Checks the fields of an entry, references being ids. Throws a ZodError. */
  readonly parse: (fields: Entry) => unknown;
  readonly create: (id: string, request: unknown) => Decision<AnyRecord | null, AnyEvent>;
  /** Makes a record as another one is, which would have been made of the entry. */
  readonly update: (id: string, desired: AnyRecord) => Decision<AnyRecord | null, AnyEvent>;
  readonly archive: (id: string) => Decision<AnyRecord | null, AnyEvent>;
  /** The fields of a record, references being ids. */
  readonly fieldsOf: (record: AnyRecord) => Entry;
}

interface Definition<Request, Kept, State, Event>
  extends Omit<Kind, 'parse' | 'create' | 'update' | 'archive' | 'fieldsOf'> {
  readonly parse: (fields: Entry) => Request;
  readonly create: (id: string, request: Request) => Decision<State, Event>;
  readonly update: (id: string, desired: Kept) => Decision<State, Event>;
  readonly archive: (id: string) => Decision<State, Event>;
  readonly fieldsOf: (record: Kept) => object;
}

/** Forgets the types of a kind, so that all can stand in one list. */
export const kind = <Request, Kept, State extends Kept | null, Event>(
  definition: Definition<Request, Kept, State, Event>,
): Kind => definition as unknown as Kind;

/** The fields of a record that stand in an entry; null where there is nothing. */
export const only = (fields: object, names: readonly string[]): Entry => {
  const known = fields as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, known[name] ?? null]));
};
