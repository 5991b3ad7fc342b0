/** A value of a row that goes by `COPY`. */
export type CopyValue = string | number | bigint | boolean | null;

const special = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

const escaped = (text: string): string =>
  special.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (found) => escapes[found] ?? found) : text;

/** The text of a row for PostgreSQL's `COPY … from stdin`. */
export function copyLine(values: readonly CopyValue[]): string {
  let line = '';
  for (const [index, value] of values.entries()) {
    if (index > 0) line += '\t';
    line += value === null ? '\\N' : typeof value === 'string' ? escaped(value) : String(value);
  }
  return `${line}\n`;
}
