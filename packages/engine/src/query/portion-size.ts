/** Rows that are fetched first, when nobody knows yet how long they are. */
export const firstPortion = 100;
/** Rows that are fetched at once at most: enough that travelling costs little. */
const rowsMaximum = 1_000;
/** The characters that a portion is to have at most: two portions, and what is made of them, are in memory at once. */
const portionCharacters = 2_000_000;

/** The rows to fetch next, after a portion: fewer where rows are long, and at most twice as many as before. */
export function nextPortion<Row>(before: number, rows: readonly Row[]): number {
  const fitting = Math.floor((rows.length * portionCharacters) / Math.max(charactersIn(rows), 1));
  return Math.max(1, Math.min(fitting, 2 * before, rowsMaximum));
}

/** The characters of the texts in rows. Everything long in a row is a text. */
function charactersIn<Row>(rows: readonly Row[]): number {
  let characters = 0;
  for (const row of rows) {
    for (const value of Object.values(row as object)) {
      if (typeof value === 'string') characters += value.length;
    }
  }
  return characters;
}
