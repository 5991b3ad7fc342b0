import type { FileRow, RowReader } from './file-row.ts';

/** Characters that one row may have, so that a bracket that nobody closes does not fill the memory. */
const rowMaximum = 1024 * 1024;

const tooLong = (line: number): SyntaxError =>
  new SyntaxError(`line ${line}: a row is longer than 1 MiB`);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The row that a text of JSON stands for. */
function rowOf(line: number, text: string): FileRow {
  const row = parsed(text);
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) {
    return { kind: 'row', line, text, row: row as Readonly<Record<string, unknown>> };
  }
  return { kind: 'fault', line, error: 'is no JSON object', row: text };
}

/** Reads an object from each line. Empty lines are no rows. */
export class LineReader implements RowReader {
  #rest = '';
  #line = 0;

  *rows(part: string): Generator<FileRow> {
    const lines = (this.#rest + part).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > rowMaximum) throw tooLong(this.#line + 1);
    for (const text of lines) {
      this.#line += 1;
      yield* this.#take(text);
    }
  }

  *end(): Generator<FileRow> {
    this.#line += 1;
    yield* this.#take(this.#rest);
  }

  *#take(given: string): Generator<FileRow> {
    if (given.length > rowMaximum) throw tooLong(this.#line);
    const text = given.trim();
    if (text !== '') yield rowOf(this.#line, text);
  }
}

const isSpace = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t';

/** Reads the items of one list, whatever lines they stand on. */
export class JsonListReader implements RowReader {
  #item = '';
  #depth = 0;
  #line = 1;
  /** The line on which the item begins; null until it has begun. */
  #itemLine: number | null = null;
  #isInText = false;
  #isEscaped = false;
  #isOver = false;

  *rows(part: string): Generator<FileRow> {
    let from = 0;
    for (let place = 0; place < part.length; place += 1) {
      const character = part[place];
      if (character === '\n') this.#line += 1;
      if (this.#isInText) {
        this.#passText(character);
        continue;
      }
      if (isSpace(character)) continue;
      const before = this.#depth;
      this.#pass(character);
      if (before === 0) {
        // The list itself is no part of an item.
        from = place + 1;
      } else if (before === 1 && (character === ',' || this.#isOver)) {
        this.#item += part.slice(from, place);
        from = place + 1;
        yield* this.#endItem();
      } else {
        this.#itemLine ??= this.#line;
      }
    }
    if (!this.#isOver) this.#item += part.slice(from);
    if (this.#item.length > rowMaximum) throw tooLong(this.#itemLine ?? this.#line);
  }

  *end(): Generator<FileRow> {
    if (!this.#isOver) throw this.#fault('the list is not closed');
    yield* [];
  }

  /** Takes a character outside of texts. */
  #pass(character: string | undefined): void {
    if (this.#isOver) throw this.#fault('something follows the list');
    if (character === '"') this.#isInText = true;
    else if (character === '[' || character === '{') this.#depth += 1;
    else if (character === ']' || character === '}') {
      this.#depth -= 1;
      this.#isOver = this.#depth === 0;
    }
  }

  #passText(character: string | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') this.#isInText = false;
  }

  /** Every item has a text, but for that of an empty list. */
  *#endItem(): Generator<FileRow> {
    const text = this.#item.trim();
    const line = this.#itemLine ?? this.#line;
    this.#item = '';
    this.#itemLine = null;
    if (text !== '') yield rowOf(line, text);
    else if (!this.#isOver) throw this.#fault('an item is missing');
  }

  #fault(reason: string): SyntaxError {
    return new SyntaxError(`line ${this.#line}: ${reason}`);
  }
}
