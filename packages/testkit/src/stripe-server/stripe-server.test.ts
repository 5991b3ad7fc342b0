import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { blankOf } from './blank.ts';
import { faultsOf } from './check.ts';
import { published } from './declarations.ts';
import { readForm } from './form.ts';
import { operations } from './operations.ts';

const test = suite('the server in the place of Stripe');

/** Requests to make a charge, and the faults that the published declaration finds in each. */
const table: readonly (readonly [form: string, faults: readonly string[]])[] = [
  ['amount=1000&currency=usd', []],
  ['amount=1000&currency=usd&metadata[a]=b&allowed_payment_method_types[0]=card', []],
  ['amount=1000&currency=usd&off_session=true&confirm=true', []],
  ['currency=usd', ['.amount: is missing']],
  ['amount=ten&currency=usd', ['.amount: must be a number']],
  ['amount=1&currency=usd&confirm=yes', ['.confirm: must be true or false']],
  [
    'amount=1&currency=usd&payment_method_types[0]=card',
    ['.payment_method_types: nobody knows this member'],
  ],
];

for (const [form, faults] of table) {
  test(`${form} has ${faults.length === 0 ? 'no fault' : faults.join()}`, () => {
    const params = published('PaymentIntents', 'PaymentIntentCreateParams');
    assert.equal(faultsOf(readForm(form), params, 'form'), faults);
  });
}

test('a word that is not among those of an enumeration is a fault, although new ones may come', () => {
  const params = published('Checkout/Sessions', 'Checkout.SessionCreateParams');
  assert.equal(faultsOf(readForm('mode=payment'), params, 'form'), []);
  assert.is(faultsOf(readForm('mode=paymnt'), params, 'form').length, 1);
  assert.is(faultsOf(readForm('line_items[0][quantity]=x'), params, 'form').length, 1);
});

test('a blank thing has all that its declaration requires, and one member less is a fault', () => {
  for (const { answer, path } of operations) {
    const blank = blankOf(answer) as Record<string, unknown>;
    assert.equal(faultsOf(blank, answer, 'json'), [], path);
    const { id: _, ...rest } = blank;
    assert.equal(faultsOf(rest, answer, 'json'), ['.id: is missing'], path);
    assert.is(faultsOf({ ...blank, invented: 1 }, answer, 'json').length, 1, path);
  }
});

test.run();
