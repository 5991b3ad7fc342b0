import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { creditNoteDocument } from './credit-note-document.ts';
import { htmlOf } from './html.ts';
import { creditNoteOf, setting } from './test-document.ts';

const test = suite('documents of credit notes');

test('the credit note of the worked month', () => {
  const shown = creditNoteDocument(creditNoteOf(), setting());
  assert.equal(shown.table.rows, [{ cells: ['Base', '$20.00', '$2.00'], notes: [] }]);
  assert.equal(
    shown.totals.map(({ label, value }) => [label, value]),
    [
      ['Subtotal', '$20.00'],
      ['Taxes', '$2.00'],
      ['Total credited', '$22.00'],
    ],
  );
  assert.equal(shown.notes, ['This is given back: it was paid already.', 'Sorry']);
  assert.ok(shown.facts.some(({ value }) => value === 'INV-202602-00002'));
  assert.match(shown.proof?.facts ?? '', /total=22$/);
});

test('one that lowers what is due says of which invoice, in the language of the customer', () => {
  const note = creditNoteOf({ credit_note_type: 'ADJUSTMENT', memo: null });
  const { notes } = creditNoteDocument(note, setting('fr'));
  assert.equal(notes, ['Le montant dû de la facture INV-202602-00002 en est diminué.']);
});

test('a draft and a void one say so and have no code', () => {
  for (const [credit_note_status, word] of [
    ['DRAFT', 'ENTWURF'],
    ['VOIDED', 'STORNIERT'],
  ] as const) {
    const document = creditNoteDocument(creditNoteOf({ credit_note_status }), setting('de'));
    assert.equal([document.watermark, document.proof], [word, null]);
    assert.ok(htmlOf(document).includes(word));
  }
});

test.run();
