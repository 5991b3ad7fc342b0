/** A row of a CSV text, with the line on which it begins, counted from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Characters that one row may have, so that a quote that nobody closes does not fill the memory. */
const rowMaximum = 1024 * 1024;

type Place = 'start' | 'plain' | 'quoted' | 'closed';

/**
 * Reads CSV as RFC 4180 defines it, in pieces: cells with commas between them, in quotes where they hold a comma, a quote
 * (written twice) or the end of a line. Empty lines are no rows. A text that is none of this throws a `SyntaxError` that
 * names the line.
 */
export class CsvReader {
  #place: Place = 'start';
  #cell = '';
  #cells: string[] = [];
  #characters = 0;
  #line = 1;
  #rowLine = 1;
  #endedByReturn = false;

  /** The rows that end in a piece of the text. */
  *rows(piece: string): Generator<CsvRow> {
    for (const character of piece) {
      const isLineFeedOfPair = this.#endedByReturn && character === '\n';
      this.#endedByReturn = false;
      if (isLineFeedOfPair) continue;
      this.#characters += 1;
      if (this.#characters > rowMaximum) throw this.#fault('a row is longer than 1 MiB');
      if (this.#place === 'quoted') this.#takeQuoted(character);
      else if (character === '\n' || character === '\r') {
        this.#endedByReturn = character === '\r';
        yield* this.#endRow();
        this.#line += 1;
        this.#rowLine = this.#line;
      } else this.#take(character);
    }
  }

  /** The row that ends with the text, if there is one. */
  *end(): Generator<CsvRow> {
    if (this.#place === 'quoted') throw this.#fault('a quote is not closed');
    yield* this.#endRow();
  }

  #takeQuoted(character: string): void {
    if (character === '\n') this.#line += 1;
    if (character === '"') this.#place = 'closed';
    else this.#cell += character;
  }

  #take(character: string): void {
    if (character === ',') {
      this.#cells.push(this.#cell);
      this.#cell = '';
      this.#place = 'start';
    } else if (character !== '"') {
      if (this.#place === 'closed') throw this.#fault('a comma is missing after a quote');
      this.#cell += character;
      this.#place = 'plain';
    } else if (this.#place === 'plain') {
      throw this.#fault('a quote stands in a cell without quotes');
    } else {
      // The second of two quotes within a cell.
      if (this.#place === 'closed') this.#cell += '"';
      this.#place = 'quoted';
    }
  }

  *#endRow(): Generator<CsvRow> {
    const isEmpty = this.#cells.length === 0 && this.#cell === '' && this.#place === 'start';
    const cells = [...this.#cells, this.#cell];
    this.#cells = [];
    this.#cell = '';
    this.#place = 'start';
    this.#characters = 0;
    if (!isEmpty) yield { line: this.#rowLine, cells };
  }

  #fault(reason: string): SyntaxError {
    return new SyntaxError(`line ${this.#rowLine}: ${reason}`);
  }
}
