import type { DecimalText, InvoiceId, WalletId } from '@counterfoil/kernel';
import { given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freezeWallet, loadCredits, settleDue, terminateWallet } from '../decisions.ts';
import { voidHold } from '../holds/decisions.ts';
import {
  after,
  at,
  create,
  debit,
  details,
  load,
  story,
  text,
  id as walletId,
} from '../test-wallet.ts';
import { breakdownOf, wallet } from '../wallet.ts';
import {
  captureForInvoice,
  giveUpForInvoice,
  heldForInvoice,
  holdForInvoice,
} from './decisions.ts';

const test = suite('credits of an invoice');

const id = walletId as WalletId;
const invoice_id = 'inv_01' as InvoiceId;

/** A hold for an invoice of which credits for usage may pay an amount, and those for fixed charges another. */
const hold = (usage: string, fixed = '0') =>
  holdForInvoice(id, {
    invoice_id,
    payable: (types) => text(types.includes('USAGE') ? usage : fixed),
  });

const heldBy = (events: ReturnType<typeof story>) => {
  const held = heldForInvoice(events);
  return held && [held.credits, held.amount];
};

const cases: readonly (readonly [object, string, string, readonly DecimalText[] | null])[] = [
  [{}, '5', '19.8', [text('5'), text('5')]],
  [{}, '50', '19.8', [text('19.8'), text('19.8')]],
  [{}, '50', '0', null],
  [{}, '0.004', '19.8', null],
  [{ conversion_rate: '0.5' }, '5', '19.8', [text('5'), text('2.5')]],
  // A third of a cent more would be held than is paid, were it not for the ninth digit.
  [{ conversion_rate: '3' }, '50', '10', [text('3.333333334'), text('10')]],
  // What is worth less than a cent stays.
  [{ conversion_rate: '0.01' }, '150.7', '19.8', [text('150'), text('1.5')]],
  [{ currency: 'jpy', conversion_rate: '0.3' }, '10', '19', [text('10'), text('3')]],
  [{ wallet_type: 'POST_PAID' }, '5', '19.8', null],
  [{ config: { allowed_price_types: ['FIXED'] } }, '5', '19.8', null],
];

for (const [terms, credits, usage, expected] of cases) {
  test(`${credits} credits ${JSON.stringify(terms)} for ${usage}: ${expected ?? 'none'}`, () =>
    assert.equal(heldBy(story(create(terms, credits), hold(usage))), expected));
}

test('they are held once, do not expire, and are nobody else’s to end', () => {
  const expiring = load('10', { expiresAt: at(5) });
  const held = [create({}, null), loadCredits(id, [expiring]), hold('4'), hold('4')];
  const state = after(...held);
  assert.equal(
    state.holds.map(({ credits, invoice_id: of }) => [credits, of]),
    [['4', invoice_id]],
  );
  const later = story(...held, ...Array.from({ length: 8 }, () => settleDue(id)));
  assert.is(later.filter(({ type }) => type === 'HoldReleased').length, 0);
  const holdId = state.holds[0]?.id ?? '';
  given(wallet, story(...held))
    .when(voidHold(id, holdId))
    .thenProblem('invalid_operation');
  given(wallet, story(...held))
    .when(terminateWallet(id, details()))
    .thenProblem('invalid_operation');
});

test('a final invoice takes them once, from a wallet that was frozen too', () => {
  const taken = after(
    create({}, '10'),
    hold('4'),
    freezeWallet(id),
    captureForInvoice(id, invoice_id),
    captureForInvoice(id, invoice_id),
  );
  assert.equal([taken.credit_balance, taken.holds], ['6', []]);
  const entry = story(create({}, '10'), hold('4'), captureForInvoice(id, invoice_id)).at(-1);
  assert.ok(entry?.type === 'HoldCaptured');
  const { reason, reference_type, reference_id } = entry.data;
  assert.equal(
    [reason, reference_type, reference_id],
    ['CREDIT_ADJUSTMENT', 'INVOICE', invoice_id],
  );
});

test('an invoice that never becomes final gives them back', () => {
  const state = after(create({}, '10'), hold('4'), giveUpForInvoice(id, invoice_id));
  assert.equal([state.holds, breakdownOf(state).free], [[], '10']);
  given(wallet, story(create({}, '10')))
    .when(giveUpForInvoice(id, invoice_id))
    .then([]);
});

test('what an invoice holds cannot be spent', () => {
  given(wallet, story(create({}, '10'), hold('4')))
    .when(debit('7'))
    .thenProblem('invalid_operation');
});

test.run();
