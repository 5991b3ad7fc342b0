import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CsvReader, type CsvRow } from './csv.ts';

const test = suite('CSV');

function read(...pieces: readonly string[]): CsvRow[] {
  const reader = new CsvReader();
  return [...pieces.flatMap((piece) => [...reader.rows(piece)]), ...reader.end()];
}

const cellsOf = (...pieces: readonly string[]) => read(...pieces).map(({ cells }) => cells);

const examples: readonly [string, string, readonly (readonly string[])[]][] = [
  ['cells and rows', 'a,b\nc,d\n', [['a', 'b'], ['c', 'd']]], // biome-ignore format: one example a line
  ['no end of line at the end', 'a,b', [['a', 'b']]],
  ['ends of lines of other systems', 'a\r\nb\rc', [['a'], ['b'], ['c']]],
  ['empty cells', ',\n"",x', [['', ''], ['', 'x']]], // biome-ignore format: one example a line
  ['empty lines', 'a\n\n\r\nb\n', [['a'], ['b']]],
  ['a comma, quotes and an end of line in quotes', '"a,""b""\nc",d', [['a,"b"\nc', 'd']]],
  ['nothing', '', []],
];
for (const [what, text, rows] of examples) {
  test(`has ${what}`, () => assert.equal(cellsOf(text), rows));
}

test('a row is named after the line on which it begins', () => {
  const lines = read('a\n"b\nb"\n\nc').map(({ line }) => line);
  assert.equal(lines, [1, 2, 5]);
});

const faults: readonly [string, RegExp][] = [
  ['a\n"b', /line 2: a quote is not closed/],
  ['a"b', /line 1: a quote stands in a cell/],
  ['"a"b', /line 1: a comma is missing/],
];
for (const [text, message] of faults) {
  test(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => read(text), message));
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

test('what is written in quotes is read as it was, wherever the text is cut', () => {
  const rows = fc.array(fc.array(fc.string(), { minLength: 1 }));
  fc.assert(
    fc.property(rows, fc.array(fc.nat()), (given, places) => {
      const text = given.map((cells) => cells.map(quoted).join(',')).join('\r\n');
      const cuts = places.map((place) => place % (text.length + 1)).sort((a, b) => a - b);
      const pieces = [0, ...cuts].map((from, index) => text.slice(from, cuts[index]));
      assert.equal(cellsOf(...pieces), given);
    }),
  );
});

test.run();
