import PDFDocument from 'pdfkit';
import type { DocumentModel } from '../model.ts';
import { type FontName, fontOf, type Weight } from './fonts.ts';
import { linesOf } from './lines.ts';
import { drawable, runsOf } from './runs.ts';

/** A4, in points. */
export const sheet = { width: 595.28, height: 841.89, side: 48, top: 48, bottom: 56 } as const;
export const inner = sheet.width - 2 * sheet.side;

/** The look of a text. */
export interface Look {
  readonly size: number;
  readonly weight: Weight;
  readonly color: string;
}

export const looks = {
  heading: { size: 20, weight: 'bold', color: '#1a1a1a' },
  label: { size: 8, weight: 'bold', color: '#595959' },
  plain: { size: 9, weight: 'regular', color: '#1a1a1a' },
  strong: { size: 9, weight: 'bold', color: '#1a1a1a' },
  small: { size: 7.5, weight: 'regular', color: '#595959' },
} as const satisfies Readonly<Record<string, Look>>;

/** The most lines of one text: more are cut with an ellipsis, so that each row fits on a page. */
const mostLines = 24;
const lineFactor = 1.4;

export const lineHeight = ({ size }: Look): number => size * lineFactor;

/** The widths and the lines of texts that are kept: tables repeat their words. */
const mostWidths = 10_000;

/** Opens a PDF of a document, with what draws texts in it. The library makes no instant and no id of its own. */
export function openPaper({ title, language, issuer, issuedAt }: DocumentModel) {
  const pdf = new PDFDocument({
    size: [sheet.width, sheet.height],
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    lang: language,
    displayTitle: true,
    pdfVersion: '1.7',
    info: {
      Title: title,
      Author: issuer.name,
      Producer: 'Counterfoil',
      Creator: 'Counterfoil',
      CreationDate: new Date(issuedAt),
    },
  });
  const widths = new Map<string, number>();
  const breaks = new Map<string, readonly string[]>();
  const opened = new Set<string>();

  const use = (font: FontName, { size, weight }: Look): void => {
    const name = `${font} ${weight}`;
    if (!opened.has(name)) {
      // The library takes an open font too, which its types do not say.
      pdf.registerFont(name, fontOf(font, weight) as unknown as Uint8Array);
      opened.add(name);
    }
    pdf.font(name).fontSize(size);
  };

  const widthOf = (text: string, look: Look): number => {
    const key = `${look.weight} ${look.size} ${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    let width = 0;
    for (const run of runsOf(text)) {
      use(run.font, look);
      width += pdf.widthOfString(run.text);
    }
    if (widths.size < mostWidths) widths.set(key, width);
    return width;
  };

  /** Draws one line of drawable text; `end` is where it ends, in place of where it begins. */
  const drawLine = (
    text: string,
    place: { readonly x: number; readonly y: number; readonly end?: number },
    look: Look,
  ): void => {
    let x = place.end === undefined ? place.x : place.end - widthOf(text, look);
    const baseline = place.y + look.size;
    pdf.fillColor(look.color);
    for (const run of runsOf(text)) {
      use(run.font, look);
      pdf.text(run.text, x, baseline, { lineBreak: false, baseline: 'alphabetic' });
      x += pdf.widthOfString(run.text);
    }
  };

  return {
    pdf,
    drawLine,
    widthOf,
    /** The lines of a text of any origin in a width. */
    broken: (text: string, width: number, look: Look): readonly string[] => {
      const key = `${look.weight} ${look.size} ${width} ${text}`;
      const known = breaks.get(key);
      if (known) return known;
      const lines = linesOf(drawable(text), width, (part) => widthOf(part, look), mostLines);
      if (breaks.size < mostWidths) breaks.set(key, lines);
      return lines;
    },
  };
}

export type Paper = ReturnType<typeof openPaper>;
