import { given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { balanceAdder } from './audit/time-travel.ts';
import { debitCredits, loadCredits, settleDue } from './decisions.ts';
import type { WalletEvent } from './events.ts';
import { captureHold, holdCredits } from './holds/decisions.ts';
import { isMovement } from './ledger/transaction.ts';
import {
  after,
  at,
  create,
  debit,
  debitOf,
  details,
  history,
  holdOf,
  id,
  load,
  story,
  text,
  walletAfter,
} from './test-wallet.ts';
import { completeTopUp } from './topups/decisions.ts';
import { balanceOf, breakdownOf, debtOf, wallet } from './wallet.ts';

/** The figures of docs/concepts/wallets.md: a change of one is a change of the other. */
const test = suite('worked examples of the page on wallets');

const left = (each: ReturnType<typeof after>) => each.lots.map(({ remaining }) => remaining);

test('draw-down', () => {
  const later = '2027-01-01T00:00:00.000Z' as ReturnType<typeof at>;
  const loads = loadCredits(id, [
    load('50', { reason: 'PURCHASED_CREDIT_DIRECT' }),
    load('30'),
    load('40', { priority: 1 }),
    load('20', { expiresAt: later }),
    load('60', { priority: 1, expiresAt: later, reason: 'PURCHASED_CREDIT_DIRECT' }),
  ]);
  assert.equal(left(after(create(), loads)), ['60', '40', '20', '30', '50']);
  const events = story(create(), loads, debit('125'));
  const drawn = events.flatMap((event) =>
    event.type === 'CreditsDebited' ? event.data.drawn : [],
  );
  assert.equal(
    drawn.map(({ credits, remaining }) => [credits, remaining]),
    [
      ['60', '0'],
      ['40', '0'],
      ['20', '0'],
      ['5', '25'],
    ],
  );
  assert.equal(breakdownOf(walletAfter(events)), { free: '25', purchased: '50' });
});

for (const [amount, rate, credits] of [
  ['10', '4', '2.5'],
  ['10', '3', '3.333333333'],
  ['0.05', '20000000', '0.000000002'],
  ['0.07', '20000000', '0.000000004'],
] as const) {
  test(`rounding: ${amount} at ${rate} is ${credits}`, () => {
    const state = after(
      create({ topup_conversion_rate: rate }),
      loadCredits(id, [load('1', { quantity: { amount: text(amount) } })]),
    );
    assert.is(state.credit_balance, credits);
  });
}

test('balances are exact', () => {
  assert.is(balanceOf(after(create({ conversion_rate: '1.123456' }, '100'))), '112.3456');
});

test('debts', () => {
  const owing = [create({ wallet_type: 'POST_PAID' }, '10'), debit('25')] as const;
  assert.equal([after(...owing).credit_balance, debtOf(after(...owing))], ['-15', '15']);
  const paid = after(...owing, loadCredits(id, [load('20')]));
  assert.equal([paid.credit_balance, left(paid)], ['5', ['5']]);
});

test('debits in part', () => {
  const held = [create({}, '100'), holdCredits(id, holdOf('a', '30'))] as const;
  const taking = (credits: string) => debitCredits(id, debitOf(credits, true));
  given(wallet, story(...held))
    .when(debit('80'))
    .thenProblem('invalid_operation');
  const events = story(...held, taking('80'));
  const rows = events.flatMap((event) => (event.type === 'CreditsDebited' ? [event.data] : []));
  assert.equal(
    rows.map(({ credits, credits_requested }) => [credits, credits_requested]),
    [['70', '80']],
  );
  given(wallet, events).when(taking('5')).thenProblem('invalid_operation');
});

test('holds', () => {
  const held = [create({}, '100'), holdCredits(id, holdOf('a', '60'))] as const;
  assert.equal([after(...held).credit_balance, breakdownOf(after(...held)).free], ['100', '40']);
  given(wallet, story(...held))
    .when(debit('41'))
    .thenProblem('invalid_operation');
  const captured = after(...held, captureHold(id, 'hold_a', text('25'), details()));
  assert.equal([captured.credit_balance, breakdownOf(captured).free], ['75', '75']);
});

test('expiry while a part is held, and what was true when', () => {
  const events = history(
    [0, create()],
    [1, loadCredits(id, [load('10', { expiresAt: at(5) })])],
    [2, holdCredits(id, holdOf('a', '4', at(8)))],
    [20, settleDue(id)],
  );
  const balance = (asOf: number, knownAt: number) => {
    const adder = balanceAdder(at(asOf), at(knownAt));
    for (const event of events) adder.take(event);
    const { credit_balance, credits_held } = adder.result();
    return [credit_balance, credits_held];
  };
  assert.equal(balance(4, 20), ['10', '4']);
  assert.equal(balance(6, 6), ['10', '4']);
  assert.equal(balance(6, 20), ['4', '4']);
  assert.equal(balance(8, 20), ['0', '0']);
});

const levels = {
  alert_enabled: true,
  info: { threshold: '80', condition: 'below' },
  warning: { threshold: '50', condition: 'below' },
  critical: { threshold: '20', condition: 'below' },
};

test('alerts', () => {
  const events = story(
    create({ alert_settings: levels }, '100'),
    debit('20'),
    debit('29'),
    debit('31'),
    debit('5'),
    loadCredits(id, [load('200')]),
  );
  assert.equal(told(events), [
    '100',
    '80',
    'ok → info',
    '51',
    '20',
    'info → in_alarm',
    '15',
    '215',
    'in_alarm → ok',
  ]);
});

/** The balances after movements, and the changes of the alert between them. */
const told = (events: readonly WalletEvent[]): string[] =>
  events.flatMap((event) => {
    if (isMovement(event)) return [event.data.credit_balance_after];
    if (event.type === 'AlertStateChanged') return [`${event.data.before} → ${event.data.after}`];
    return [];
  });

test('automatic top-up, paid elsewhere', () => {
  const auto_topup = { enabled: true, threshold: '20', amount: '100', invoicing: false };
  const events = story(create({ auto_topup }, '50'), debit('25'), debit('10'), debit('96'));
  assert.equal(told(events), ['50', '25', '15', '115', '19', '119']);
});

test('automatic top-up, invoiced', () => {
  const auto_topup = { enabled: true, threshold: '20', amount: '100', invoicing: true };
  const ordered = [create({ auto_topup }, '50'), debit('30'), debit('5')] as const;
  assert.equal(told(story(...ordered)), ['50', '20', '15']);
  const order = after(...ordered).topups;
  assert.is(order.length, 1);
  const paid = completeTopUp(id, order[0]?.transaction_id ?? '');
  assert.equal(told(story(...ordered, paid)), ['50', '20', '15', '115']);
  assert.is(after(...ordered, paid, debit('100')).topups.length, 1);
});

test.run();
