import type { Column, DocumentModel, Party, Row } from './model.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is markup already. */
class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Markup | readonly Markup[];

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? '');

const written = (part: Part): string => {
  if (typeof part === 'string') return escaped(part);
  return part instanceof Markup ? part.text : part.map(({ text }) => text).join('');
};

/** Markup around texts, each of which is escaped: nothing that people have typed becomes an element. */
const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
  new Markup(
    strings
      .map((text, index) => text + (index < parts.length ? written(parts[index] ?? '') : ''))
      .join(''),
  );

const nothing = html``;

const styles = new Markup(`
@page { size: A4; margin: 18mm 16mm; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 2rem; color: #1a1a1a; background: #fff;
  font: 0.9rem/1.45 "Noto Sans", "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
h1 { margin: 0 0 1.5rem; font-size: 1.7rem; }
h2, caption, dt { color: #595959; font-size: 0.8rem; font-weight: 600; }
h2 { margin: 0 0 0.2rem; }
header { display: flex; flex-wrap: wrap; gap: 2rem; justify-content: space-between; }
header section, header dl { flex: 1 1 16rem; margin: 0 0 1.5rem; overflow-wrap: anywhere; }
header p, address { margin: 0; font-style: normal; }
dl div { display: flex; gap: 1rem; justify-content: space-between; }
dd { margin: 0; text-align: end; }
table { width: 100%; border-collapse: collapse; }
caption { padding: 0.3rem 0; text-align: start; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { padding: 0.4rem 0.5rem; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
th { border-bottom: 2px solid #1a1a1a; }
td { border-bottom: 1px solid #d9d9d9; }
.figure { text-align: end; font-variant-numeric: tabular-nums; }
.note { display: block; color: #595959; font-size: 0.85em; }
.totals { margin: 1rem 0 1.5rem auto; width: 26rem; max-width: 100%; break-inside: avoid; }
.totals th { border: 0; font-weight: 400; }
.totals td { border: 0; }
.totals .main > * { border-top: 1px solid #1a1a1a; font-weight: 700; }
.proof { border-top: 1px solid #d9d9d9; padding-top: 0.7rem; color: #595959; font-size: 0.8rem; break-inside: avoid; }
.proof code { color: #1a1a1a; font-size: 1.1em; overflow-wrap: anywhere; }
.watermark { position: fixed; top: 40%; left: 0; right: 0; z-index: -1; color: #ececec; font-size: 6rem;
  font-weight: 700; text-align: center; transform: rotate(-30deg); }
`);

/** Names may be written from right to left, and the sentence around them goes on from left to right. */
const isolated = (text: string): Markup => html`<bdi>${text}</bdi>`;

const party = (label: string | null, { name, lines }: Party): Markup =>
  html`<section>${label === null ? nothing : html`<h2>${label}</h2>`}<p><strong>${isolated(name)}</strong></p>
<address>${lines.map((line) => html`${isolated(line)}<br>`)}</address></section>`;

const figure = ({ isFigure }: Column): Markup => (isFigure ? html` class="figure"` : nothing);

const row = ({ cells, notes }: Row, columns: readonly Column[]): Markup =>
  html`<tr>${columns.map(
    (column, index) =>
      html`<td${figure(column)}>${isolated(cells[index] ?? '')}${
        index === 0 ? notes.map((note) => html`<span class="note">${note}</span>`) : nothing
      }</td>`,
  )}</tr>
`;

const table = ({ table: { caption, columns, rows, whenEmpty } }: DocumentModel): Markup =>
  html`<table><caption>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col"${figure(column)}>${column.label}</th>`)}</tr></thead>
<tbody>
${
  rows.length > 0
    ? rows.map((each) => row(each, columns))
    : html`<tr><td colspan="${String(columns.length)}">${whenEmpty}</td></tr>
`
}</tbody></table>`;

const totals = (document: DocumentModel): Markup =>
  html`<table class="totals"><tbody>
${document.totals.map(
  ({ label, value, isMain }) =>
    html`<tr${isMain ? html` class="main"` : nothing}><th scope="row">${isolated(label)}</th><td class="figure">${value}</td></tr>
`,
)}</tbody></table>`;

const proof = ({ proof: given }: DocumentModel): Markup =>
  given === null
    ? nothing
    : html`<section class="proof"><h2>${given.label}</h2><p><code>${given.code}</code></p>
<p>${given.explanation}<br><code>${given.facts}</code></p></section>`;

/**
 * A document as a page of HTML: one file with its styles, without scripts, pictures and links. Headings of the table
 * come again on each printed page. The same document gives the same text.
 */
export function htmlOf(document: DocumentModel): string {
  const { language, title, heading, watermark, issuer, recipientLabel, recipient } = document;
  return html`<!doctype html>
<html lang="${language}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${styles}</style>
</head>
<body>
${
  watermark === null
    ? nothing
    : html`<p class="watermark">${watermark}</p>
`
}<main>
<h1>${heading}</h1>
<header>${party(null, issuer)}
${party(recipientLabel, recipient)}
<dl>${document.facts.map(
    ({ label, value }) => html`<div><dt>${label}</dt><dd>${isolated(value)}</dd></div>
`,
  )}</dl></header>
${table(document)}
${totals(document)}
${document.notes.map(
  (note) => html`<p>${isolated(note)}</p>
`,
)}${proof(document)}
</main>
</body>
</html>
`.text;
}
