import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DocumentModel, Party, Row } from '../model.ts';
import { inner, type Look, lineHeight, looks, openPaper, type Paper, sheet } from './paper.ts';

const floor = sheet.height - sheet.bottom;
const gap = 14;
const padding = 3;

/** The pages of a document while they are drawn, with the place where the next block begins. */
interface Pages {
  readonly paper: Paper;
  readonly document: DocumentModel;
  y: number;
}

function addPage({ paper, document: { watermark } }: Pages): void {
  paper.pdf.addPage();
  if (watermark === null) return;
  const look: Look = { size: 84, weight: 'bold', color: '#ececec' };
  const width = paper.widthOf(watermark, look);
  const size = Math.min(look.size, (look.size * inner) / width);
  const [x, y] = [sheet.width / 2, sheet.height / 2];
  paper.pdf.save().rotate(-35, { origin: [x, y] });
  paper.drawLine(
    watermark,
    { x: x - (width * size) / look.size / 2, y: y - size / 2 },
    { ...look, size },
  );
  paper.pdf.restore();
}

/** Begins a page where a block of a height does not fit on this one. Tells whether it did. */
function makeRoom(pages: Pages, height: number): boolean {
  if (pages.y + height <= floor) return false;
  addPage(pages);
  pages.y = sheet.top;
  return true;
}

/** Draws a text in lines from a place on, and returns the y below it. */
function drawText(
  { paper }: Pages,
  text: string,
  { x, y, width, isFigure = false }: Box,
  look: Look,
): number {
  const lines = paper.broken(text, width, look);
  lines.forEach((line, index) => {
    const place = { x, y: y + index * lineHeight(look), ...(isFigure && { end: x + width }) };
    paper.drawLine(line, place, look);
  });
  return y + lines.length * lineHeight(look);
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly isFigure?: boolean;
}

function drawParty(pages: Pages, label: string | null, party: Party, box: Box): number {
  let { y } = box;
  if (label !== null) y = drawText(pages, label, box, looks.label);
  y = drawText(pages, party.name, { ...box, y }, looks.strong);
  for (const line of party.lines) y = drawText(pages, line, { ...box, y }, looks.plain);
  return y;
}

/** Heading, issuer, recipient and facts. They are a few short texts, which fit on the first page. */
function drawHead(pages: Pages): void {
  const { document } = pages;
  const half = inner * 0.44;
  const width = inner * 0.53;
  const right = sheet.side + inner - width;
  pages.y = drawText(pages, document.heading, blockAt(pages), looks.heading) + gap;
  const left = { x: sheet.side, y: pages.y, width: half };
  const issuerEnd = drawParty(pages, null, document.issuer, left);
  const recipientY = issuerEnd + gap;
  const recipientEnd = drawParty(pages, document.recipientLabel, document.recipient, {
    ...left,
    y: recipientY,
  });
  let { y } = pages;
  const labelWidth = width * 0.35;
  for (const { label, value } of document.facts) {
    const valueBox = { x: right + labelWidth, y, width: width - labelWidth, isFigure: true };
    const labelBox = { x: right, y, width: labelWidth - padding };
    const labelEnd = drawText(pages, label, labelBox, looks.label);
    y = Math.max(labelEnd, drawText(pages, value, valueBox, looks.plain)) + 2;
  }
  pages.y = Math.max(recipientEnd, y) + gap;
}

const blockAt = ({ y }: Pages): Box => ({ x: sheet.side, y, width: inner });

interface Column {
  readonly x: number;
  readonly width: number;
  readonly isFigure: boolean;
}

function columnsOf({ table }: DocumentModel): readonly Column[] {
  let x: number = sheet.side;
  return table.columns.map(({ share, isFigure }) => {
    const width = (inner * share) / 100;
    const column = { x: x + padding, width: width - 2 * padding, isFigure };
    x += width;
    return column;
  });
}

/** A rule over the whole width, a line below which the next block begins. */
function drawRule({ paper: { pdf }, y }: Pages, color: string, thickness: number): void {
  pdf
    .moveTo(sheet.side, y)
    .lineTo(sheet.side + inner, y)
    .lineWidth(thickness)
    .strokeColor(color)
    .stroke();
}

function drawCells(pages: Pages, cells: readonly string[], columns: readonly Column[], look: Look) {
  const { y } = pages;
  const ends = columns.map(({ x, width, isFigure }, index) =>
    drawText(pages, cells[index] ?? '', { x, y, width, isFigure }, look),
  );
  return Math.max(y, ...ends);
}

function drawTableHead(pages: Pages, columns: readonly Column[]): void {
  const labels = pages.document.table.columns.map(({ label }) => label);
  pages.y = drawCells(pages, labels, columns, looks.label) + padding;
  drawRule(pages, '#1a1a1a', 1);
  pages.y += padding;
}

function heightOf({ paper }: Pages, { cells, notes }: Row, columns: readonly Column[]): number {
  const heights = columns.map(({ width }, index) => {
    const own = paper.broken(cells[index] ?? '', width, looks.plain).length;
    const below = index === 0 ? notes : [];
    const lines = below.map((note) => paper.broken(note, width, looks.small).length);
    const small = lines.reduce((sum, count) => sum + count, 0);
    return own * lineHeight(looks.plain) + small * lineHeight(looks.small);
  });
  return Math.max(...heights) + 2 * padding;
}

function drawRow(pages: Pages, row: Row, columns: readonly Column[]): void {
  const top = pages.y;
  const height = heightOf(pages, row, columns);
  drawCells(pages, row.cells, columns, looks.plain);
  const [first] = columns;
  if (first) {
    const { x, width } = first;
    const lines = pages.paper.broken(row.cells[0] ?? '', width, looks.plain).length;
    let y = top + lines * lineHeight(looks.plain);
    for (const note of row.notes) y = drawText(pages, note, { x, y, width }, looks.small);
  }
  pages.y = top + height - padding;
  drawRule(pages, '#d9d9d9', 0.5);
  pages.y += padding;
}

/** Rows that are drawn before others get their turn: a long document must not hold up everybody's requests. */
const rowsPerTurn = 25;

async function drawTable(pages: Pages): Promise<void> {
  const { table } = pages.document;
  const columns = columnsOf(pages.document);
  makeRoom(pages, 60);
  drawTableHead(pages, columns);
  if (table.rows.length === 0) {
    pages.y = drawText(pages, table.whenEmpty, blockAt(pages), looks.plain) + gap;
  }
  for (const [index, row] of table.rows.entries()) {
    if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
    if (makeRoom(pages, heightOf(pages, row, columns))) drawTableHead(pages, columns);
    drawRow(pages, row, columns);
  }
  pages.y += gap / 2;
}

function drawTotals(pages: Pages): void {
  const width = inner * 0.58;
  const x = sheet.side + inner - width;
  const labelWidth = width * 0.62;
  for (const { label, value, isMain } of pages.document.totals) {
    const look = isMain ? looks.strong : looks.plain;
    const lines = pages.paper.broken(label, labelWidth, look).length;
    makeRoom(pages, lines * lineHeight(look) + 2 * padding);
    const { y } = pages;
    const values = { x: x + labelWidth, y, width: width - labelWidth - padding, isFigure: true };
    const labelEnd = drawText(pages, label, { x, y, width: labelWidth - padding }, look);
    pages.y = Math.max(labelEnd, drawText(pages, value, values, look)) + padding;
  }
  pages.y += gap;
}

function drawBlock(pages: Pages, text: string, look: Look): void {
  const lines = pages.paper.broken(text, inner, look).length;
  makeRoom(pages, lines * lineHeight(look));
  pages.y = drawText(pages, text, blockAt(pages), look) + padding;
}

function drawEnd(pages: Pages): void {
  const { notes, proof } = pages.document;
  for (const note of notes) drawBlock(pages, note, looks.plain);
  if (proof === null) return;
  pages.y += gap;
  // The proof stays together: six short lines.
  makeRoom(pages, 6 * lineHeight(looks.plain));
  drawBlock(pages, proof.label, looks.label);
  drawBlock(pages, proof.code, looks.strong);
  drawBlock(pages, proof.explanation, looks.small);
  drawBlock(pages, proof.facts, looks.small);
}

function drawFeet({ paper, document }: Pages): void {
  const { start, count } = paper.pdf.bufferedPageRange();
  const y = sheet.height - sheet.bottom / 2 - looks.small.size;
  for (let page = 0; page < count; page += 1) {
    paper.pdf.switchToPage(start + page);
    const [title = ''] = paper.broken(document.title, inner * 0.7, looks.small);
    paper.drawLine(title, { x: sheet.side, y }, looks.small);
    const place = { x: 0, y, end: sheet.side + inner };
    paper.drawLine(document.pageOf(String(page + 1), String(count)), place, looks.small);
  }
}

/**
 * A document as a PDF on A4, with its fonts inside. Long tables go on over pages, each with the headings of the columns.
 * The same document gives the same bytes. It lets others have their turn while it draws a long table.
 */
export async function pdfOf(document: DocumentModel): Promise<Uint8Array> {
  const paper = openPaper(document);
  const pages: Pages = { paper, document, y: sheet.top };
  addPage(pages);
  drawHead(pages);
  await drawTable(pages);
  drawTotals(pages);
  drawEnd(pages);
  drawFeet(pages);
  paper.pdf.end();
  const chunks: Buffer[] = [];
  for await (const chunk of paper.pdf) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
