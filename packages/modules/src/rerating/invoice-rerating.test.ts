import type { DecimalText, Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  applyRerate,
  type Correction,
  invoiceRerating,
  noteDocumented,
  refuseCorrection,
} from './invoice-rerating.ts';

const test = suite('corrections of an invoice');

const line = (net: string, line_id = 'inv_line_1'): Correction => ({
  ...{ line_id, display_name: 'Calls', price_type: 'USAGE' as const },
  net: net as DecimalText,
});
const asked = (...differences: Correction[]) =>
  applyRerate({ prices: [], memo: null, differences });
const at = '2026-01-01T00:00:00.000Z' as Instant;

/** The corrections of the event that a decision leads to after others. */
function after(before: readonly ReturnType<typeof asked>[], decision: ReturnType<typeof asked>) {
  let state = invoiceRerating.initial;
  for (const each of before) {
    for (const event of each(state, at)) state = invoiceRerating.evolve(state, event as never);
  }
  return decision(state, at).flatMap((event): readonly string[] =>
    event.type === 'RerateApplied' ? event.data.corrections.map(({ net }) => net) : [event.type],
  );
}

test('what was mended before is not mended again', () => {
  assert.equal(after([], asked(line('-9'))), ['-9']);
  assert.equal(after([asked(line('-9'))], asked(line('-9'))), []);
  assert.equal(after([asked(line('-9'))], asked(line('-13.5'))), ['-4.5']);
  assert.equal(after([asked(line('-9'))], asked(line('3'))), ['12']);
  assert.equal(after([asked(line('-9'))], asked(line('4', 'inv_line_2'))), ['4']);
});

test('lines whose credit note was refused are not mended, and those of the invoice are', () => {
  const refused = refuseCorrection(1, { code: 'validation_error', message: 'Too much.' });
  const both = asked(line('-9'), line('4', 'inv_line_2'));
  assert.equal(after([both, refused], both), ['-9']);
  assert.equal(after([both, refused], refused), []);
});

test('the end of a request is noted once, with the lines that are mended and those that are not', () => {
  const refused = refuseCorrection(1, { code: 'validation_error', message: 'Too much.' });
  const both = asked(line('-9'), line('4', 'inv_line_2'));
  const noted = (before: readonly ReturnType<typeof asked>[]) => {
    let state = invoiceRerating.initial;
    for (const each of before) {
      for (const event of each(state, at)) state = invoiceRerating.evolve(state, event as never);
    }
    return noteDocumented(1, 2)(state, at).map(({ data }) => data);
  };
  assert.equal(noted([]), []);
  assert.equal(noted([both]), [{ number: 1, mended: 2, refused: 0 }]);
  assert.equal(noted([both, refused]), [{ number: 1, mended: 1, refused: 1 }]);
  assert.equal(noted([both, noteDocumented(1, 2)]), []);
});

test('an invoice is mended a hundred times at most', () => {
  const often = Array.from({ length: 100 }, (_, index) => asked(line(String(index + 1))));
  assert.throws(() => after(often, asked(line('500'))), /100 requests/);
});

test.run();
