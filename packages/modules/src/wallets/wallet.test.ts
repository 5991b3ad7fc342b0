import type { DecimalText, Instant } from '@counterfoil/kernel';
import { folded, given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  changeSettings,
  createWallet,
  debitCredits,
  freezeWallet,
  loadCredits,
  terminateWallet,
  unfreezeWallet,
} from './decisions.ts';
import type { Debit, EntryDetails, Load } from './entries.ts';
import type { TransactionReason, WalletEvent } from './events.ts';
import { isMovement, type MovementEvent } from './transaction.ts';
import { balanceOf, breakdownOf, type Wallet, wallet } from './wallet.ts';

const test = suite('wallet');

const id = 'wallet_01';
const text = (value: string) => value as DecimalText;

const details = (reason: TransactionReason): EntryDetails => ({
  reason,
  referenceType: 'REQUEST',
  referenceId: 'req_1',
  description: null,
  idempotencyKey: null,
  metadata: {},
});

const created = (overrides = {}): Extract<WalletEvent, { type: 'WalletCreated' }>['data'] =>
  ({
    id,
    customer_id: 'cust_01',
    currency: 'usd',
    conversion_rate: '1',
    topup_conversion_rate: '1',
    wallet_type: 'PRE_PAID',
    name: 'Prepaid Wallet - USD',
    description: null,
    metadata: {},
    config: { allowed_price_types: ['USAGE'] },
    alert_settings: null,
    auto_topup: null,
    ...overrides,
  }) as never;

const load = (credits: string, options: Partial<Load> = {}): Load => ({
  ...details('FREE_CREDIT_GRANT'),
  quantity: { credits: text(credits) },
  priority: null,
  expiresAt: null,
  ...options,
});

const debit = (credits: string): Debit => ({
  ...details('MANUAL_BALANCE_DEBIT'),
  credits: text(credits),
});

type Decide = Parameters<ReturnType<typeof given<typeof wallet.events, Wallet | null>>['when']>[0];

/** Runs decisions one after the other, one second apart. */
function story(...decisions: readonly Decide[]): readonly WalletEvent[] {
  const events: WalletEvent[] = [];
  for (const decide of decisions) {
    events.push(...decide(folded(wallet, events), stampAt(events.length).occurred_at));
  }
  return events;
}

const after = (...decisions: readonly Decide[]): Wallet =>
  folded(wallet, story(...decisions)) as Wallet;

const movements = (events: readonly WalletEvent[]): readonly MovementEvent[] =>
  events.filter(isMovement);

const create = (overrides = {}, initial: Load | null = null) =>
  createWallet(created(overrides), initial);

test('created with initial credits, topped up and debited, it shows every balance in between', () => {
  const events = story(
    create({}, load('100')),
    loadCredits(id, [load('50')]),
    debitCredits(id, debit('30')),
  );
  assert.equal(
    movements(events).map(({ data }) => [data.credit_balance_before, data.credit_balance_after]),
    [
      ['0', '100'],
      ['100', '150'],
      ['150', '120'],
    ],
  );
  assert.equal(
    movements(events).map(({ data }) => data.sequence),
    [1, 2, 3],
  );
});

test('ids of entries sort in ledger order even within one millisecond', () => {
  const events = story(create({}, load('1')), loadCredits(id, [load('1'), load('1'), load('1')]));
  const ids = movements(events).map(({ data }) => data.transaction_id);
  assert.equal([...ids].sort(), ids);
});

for (const [rate, topup, quantity, credits, amount, balance] of [
  ['2', '4', { credits: '10' }, '10', '40', '20'],
  ['1', '0.5', { amount: '10' }, '20', '10', '20'],
  ['1', '3', { amount: '10' }, '3.333333333', '10', '3.333333333'],
  ['1', '8', { amount: '0.00000002' }, '0.000000002', '0.00000002', '0.000000002'],
  ['1.123456', '1', { credits: '100' }, '100', '100', '112.3456'],
] as const) {
  test(`rates ${rate} and ${topup}: ${JSON.stringify(quantity)} loads ${credits} credits`, () => {
    const events = story(
      create({ conversion_rate: rate, topup_conversion_rate: topup }),
      loadCredits(id, [load('1', { quantity: quantity as never })]),
    );
    const [entry] = movements(events);
    assert.is(entry?.data.credits, credits);
    assert.is(entry?.data.amount, amount);
    assert.is(balanceOf(folded(wallet, events) as Wallet), balance);
  });
}

test('an amount that is worth nothing is refused', () => {
  given(wallet, story(create({ topup_conversion_rate: '1000' })))
    .when(loadCredits(id, [load('1', { quantity: { amount: text('0.000000001') } })]))
    .thenProblem('invalid_operation');
});

test('a prepaid wallet refuses more than it has, whole, and says how much there is', () => {
  const events = story(create({}, load('10')));
  try {
    debitCredits(id, debit('10.000000001'))(folded(wallet, events), stampAt(9).occurred_at);
    assert.unreachable();
  } catch (error) {
    assert.equal((error as { details: unknown }).details, {
      available: '10',
      requested: '10.000000001',
    });
  }
});

test('a postpaid wallet owes what it does not have, and a load pays the debt first', () => {
  const owing = story(
    create({ wallet_type: 'POST_PAID' }, load('10')),
    debitCredits(id, debit('25')),
  );
  assert.is((folded(wallet, owing) as Wallet).credit_balance, '-15');
  const paid = [
    ...owing,
    ...loadCredits(id, [load('20')])(folded(wallet, owing), stampAt(9).occurred_at),
  ];
  const state = folded(wallet, paid) as Wallet;
  assert.is(state.credit_balance, '5');
  assert.equal(
    state.lots.map(({ remaining }) => remaining),
    ['5'],
  );
});

test('credits go in the order of priority, expiry, class and age', () => {
  const later = '2027-01-01T00:00:00.000Z' as Instant;
  const state = after(
    create(),
    loadCredits(id, [
      load('50'),
      load('30', { priority: 3 }),
      load('40', { priority: 1 }),
      load('20', { priority: 2 }),
      load('60', { priority: 1, expiresAt: later }),
    ]),
    debitCredits(id, debit('90')),
  );
  assert.equal(
    state.lots.map(({ remaining, priority }) => [remaining, priority]),
    [
      ['10', 1],
      ['20', 2],
      ['30', 3],
      ['50', null],
    ],
  );
});

test('free credits go before purchased ones, and both parts add up to the balance', () => {
  const state = after(
    create(),
    loadCredits(id, [load('50', { reason: 'PURCHASED_CREDIT_DIRECT' }), load('100')]),
    debitCredits(id, debit('30')),
  );
  assert.equal(breakdownOf(state), { free: '70', purchased: '50' });
  assert.is(state.credit_balance, '120');
});

test('expired credits are booked before the next movement and cannot be spent', () => {
  const soon = stampAt(1).occurred_at;
  const events = story(create({}, load('10', { expiresAt: soon })), loadCredits(id, [load('5')]));
  const last = movements(events);
  assert.equal(
    last.map(({ type, data }) => [type, data.credit_balance_after]),
    [
      ['CreditsLoaded', '10'],
      ['CreditsExpired', '0'],
      ['CreditsLoaded', '5'],
    ],
  );
  given(wallet, story(create({}, load('10', { expiresAt: soon }))))
    .when(debitCredits(id, debit('1')))
    .thenProblem('invalid_operation');
});

test('termination takes out what is left and is final', () => {
  const events = story(create({}, load('10')), terminateWallet(id, details('WALLET_TERMINATION')));
  const state = folded(wallet, events) as Wallet;
  assert.is(state.wallet_status, 'closed');
  assert.is(state.credit_balance, '0');
  assert.equal(state.lots, []);
  for (const decision of [
    loadCredits(id, [load('1')]),
    debitCredits(id, debit('1')),
    terminateWallet(id, details('WALLET_TERMINATION')),
    changeSettings(id, { name: 'Other' }),
  ]) {
    given(wallet, events).when(decision).thenProblem('invalid_operation');
  }
});

test('a wallet that owes cannot be terminated', () => {
  given(wallet, story(create({ wallet_type: 'POST_PAID' }), debitCredits(id, debit('1'))))
    .when(terminateWallet(id, details('WALLET_TERMINATION')))
    .thenProblem('invalid_operation');
});

test('a wallet that does not exist is 404 to every command', () => {
  for (const decision of [
    loadCredits(id, [load('1')]),
    debitCredits(id, debit('1')),
    terminateWallet(id, details('WALLET_TERMINATION')),
    changeSettings(id, { name: 'Other' }),
  ]) {
    given(wallet, []).when(decision).thenProblem('not_found');
  }
});

test('settings that do not change make no event', () => {
  const events = story(create());
  given(wallet, events)
    .when(changeSettings(id, { name: 'Prepaid Wallet - USD' }))
    .then([]);
  given(wallet, events)
    .when(changeSettings(id, { name: 'Team', description: undefined }))
    .then([{ type: 'WalletSettingsChanged', data: { name: 'Team' } }]);
});

test('the slot of customer, currency and type is held until the wallet is closed', () => {
  const slot = (state: Wallet) => wallet.unique?.(state).map(({ value }) => value);
  assert.equal(slot(after(create())), ['cust_01/usd/PRE_PAID']);
  assert.equal(slot(after(create(), terminateWallet(id, details('WALLET_TERMINATION')))), []);
});

test('a frozen wallet takes credits and gives none, until it is unfrozen', () => {
  const frozen = story(create({}, load('10')), freezeWallet(id));
  given(wallet, frozen)
    .when(debitCredits(id, debit('1')))
    .thenProblem('invalid_operation');
  given(wallet, frozen).when(freezeWallet(id)).then([]);
  const after = [
    ...frozen,
    ...loadCredits(id, [load('5')])(folded(wallet, frozen), stampAt(8).occurred_at),
    ...unfreezeWallet(id)(folded(wallet, frozen), stampAt(9).occurred_at),
  ];
  given(wallet, after)
    .when(debitCredits(id, debit('15')))
    .thenState((state) => assert.is(state?.credit_balance, '0'));
});

const alerting = {
  alert_settings: {
    alert_enabled: true,
    info: { threshold: '80', condition: 'below' },
    warning: { threshold: '50', condition: 'below' },
    critical: { threshold: '20', condition: 'below' },
  },
};

test('each crossing of a threshold is told once, in both directions, and equality counts', () => {
  const events = story(
    create(alerting, load('100')),
    debitCredits(id, debit('20')),
    debitCredits(id, debit('29')),
    debitCredits(id, debit('31')),
    debitCredits(id, debit('5')),
    loadCredits(id, [load('200')]),
  );
  assert.equal(
    events.flatMap((event) =>
      event.type === 'AlertStateChanged' ? [[event.data.before, event.data.after]] : [],
    ),
    [
      ['ok', 'info'],
      ['info', 'in_alarm'],
      ['in_alarm', 'ok'],
    ],
  );
});

test('alerts that are switched off or changed are judged again at once', () => {
  const low = story(create(alerting, load('10')));
  assert.is((folded(wallet, low) as Wallet).alert_state, 'in_alarm');
  given(wallet, low)
    .when(changeSettings(id, { alert_settings: null }))
    .thenState((state) => assert.is(state?.alert_state, 'ok'));
});

test.run();
