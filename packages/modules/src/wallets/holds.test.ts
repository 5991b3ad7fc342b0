import type { DecimalText, Instant } from '@counterfoil/kernel';
import { folded, given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createWallet,
  debitCredits,
  loadCredits,
  settleDue,
  terminateWallet,
  type WalletDecision,
} from './decisions.ts';
import type { EntryDetails, Load } from './entries.ts';
import type { CreatedData, WalletEvent } from './events.ts';
import { captureHold, holdCredits, type NewHold, voidHold } from './hold-decisions.ts';
import { breakdownOf, type Wallet, wallet } from './wallet.ts';

const test = suite('holds');

const id = 'wallet_01';
const text = (value: string) => value as DecimalText;
const details = {
  reason: 'MANUAL_BALANCE_DEBIT',
  referenceType: null,
  referenceId: null,
  description: null,
  idempotencyKey: null,
  metadata: {},
} as const satisfies EntryDetails;
const load = (credits: string, options: Partial<Load> = {}): Load => ({
  ...details,
  quantity: { credits: text(credits) },
  priority: null,
  expiresAt: null,
  ...options,
});
const hold = (name: string, credits: string, expiresAt: Instant | null = null): NewHold => ({
  holdId: `hold_${name}` as NewHold['holdId'],
  credits: text(credits),
  expiresAt,
  description: null,
  metadata: {},
});
const created = {
  id,
  customer_id: 'cust_01',
  currency: 'usd',
  conversion_rate: '1',
  topup_conversion_rate: '1',
  wallet_type: 'PRE_PAID',
  name: 'W',
  description: null,
  metadata: {},
  config: { allowed_price_types: ['USAGE'] },
  alert_settings: null,
  auto_topup: null,
} as unknown as CreatedData;
const create = createWallet(created, load('100'));

function story(...decisions: readonly WalletDecision[]): readonly WalletEvent[] {
  const events: WalletEvent[] = [];
  for (const decide of decisions) {
    events.push(...decide(folded(wallet, events), stampAt(events.length).occurred_at));
  }
  return events;
}
const after = (...decisions: readonly WalletDecision[]) =>
  folded(wallet, story(...decisions)) as Wallet;
const debit = (credits: string) => debitCredits(id, { ...details, credits: text(credits) });

test('a hold lowers what is available and not the balance', () => {
  const state = after(create, holdCredits(id, hold('a', '60')));
  assert.is(state.credit_balance, '100');
  assert.equal(breakdownOf(state), { free: '40', purchased: '0' });
  given(wallet, story(create, holdCredits(id, hold('a', '60'))))
    .when(debit('41'))
    .thenProblem('invalid_operation');
});

test('a capture in part takes the part, gives the rest back and ends the hold', () => {
  const state = after(
    create,
    holdCredits(id, hold('a', '60')),
    captureHold(id, 'hold_a', text('25'), details),
  );
  assert.is(state.credit_balance, '75');
  assert.equal(breakdownOf(state), { free: '75', purchased: '0' });
  assert.equal(state.holds, []);
});

test('a hold ends exactly once, however it ends', () => {
  const held = [create, holdCredits(id, hold('a', '60'))];
  for (const end of [captureHold(id, 'hold_a', null, details), voidHold(id, 'hold_a')]) {
    const ended = story(...held, end);
    given(wallet, ended).when(voidHold(id, 'hold_a')).thenProblem('invalid_operation');
    given(wallet, ended)
      .when(captureHold(id, 'hold_a', null, details))
      .thenProblem('invalid_operation');
  }
});

test('more than is held cannot be captured', () => {
  given(wallet, story(create, holdCredits(id, hold('a', '60'))))
    .when(captureHold(id, 'hold_a', text('60.000000001'), details))
    .thenProblem('invalid_operation');
});

test('an expired hold gives its credits back at its instant and cannot be captured', () => {
  const events = story(create, holdCredits(id, hold('a', '60', stampAt(2).occurred_at)));
  given(wallet, [...events])
    .when(captureHold(id, 'hold_a', null, details))
    .thenProblem('invalid_operation');
  const due = settleDue(id)(folded(wallet, events), stampAt(9).occurred_at);
  assert.equal(
    due.map((event) => (event.type === 'HoldReleased' ? event.data.released_at : event.type)),
    [stampAt(2).occurred_at],
  );
  assert.is(breakdownOf(folded(wallet, [...events, ...due]) as Wallet).free, '100');
});

test('held credits do not expire; what comes back too late is booked as expired at once', () => {
  const soon = stampAt(4).occurred_at;
  const events = story(
    create,
    loadCredits(id, [load('10', { priority: 1, expiresAt: soon })]),
    holdCredits(id, hold('a', '10')),
    debit('1'),
  );
  const late = stampAt(20).occurred_at;
  assert.equal(settleDue(id)(folded(wallet, events), late), []);
  const captured = captureHold(id, 'hold_a', text('4'), details)(folded(wallet, events), late);
  const state = folded(wallet, [...events, ...captured]) as Wallet;
  assert.is(state.credit_balance, '99');
  const voided = voidHold(id, 'hold_a')(folded(wallet, events), late);
  assert.equal(
    voided.map(({ type }) => type),
    ['HoldReleased', 'CreditsExpired'],
  );
});

test('a load pays what is owed before anything of it can be spent, also while credits are held', () => {
  const postpaid = createWallet({ ...created, wallet_type: 'POST_PAID' }, load('5'));
  const state = after(
    postpaid,
    holdCredits(id, hold('a', '5')),
    debit('3'),
    loadCredits(id, [load('10')]),
  );
  assert.is(state.credit_balance, '12');
  assert.equal(breakdownOf(state), { free: '7', purchased: '0' });
});

test('a wallet with open holds cannot be terminated', () => {
  given(wallet, story(create, holdCredits(id, hold('a', '60'))))
    .when(terminateWallet(id, details))
    .thenProblem('invalid_operation');
});

test.run();
