import type { Instant } from '@counterfoil/kernel';
import { given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  changeSettings,
  freezeWallet,
  loadCredits,
  terminateWallet,
  unfreezeWallet,
} from './decisions.ts';
import type { WalletEvent } from './events.ts';
import { isMovement, type MovementEvent } from './ledger/transaction.ts';
import {
  after,
  at,
  create,
  debit,
  details,
  id,
  load,
  story,
  text,
  walletAfter,
} from './test-wallet.ts';
import { balanceOf, breakdownOf, type Wallet, wallet } from './wallet.ts';

const test = suite('wallet');

const movements = (events: readonly WalletEvent[]): readonly MovementEvent[] =>
  events.filter(isMovement);

test('created with initial credits, topped up and debited, it shows every balance in between', () => {
  const events = story(create({}, load('100')), loadCredits(id, [load('50')]), debit('30'));
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
  ['1', '20000000', { amount: '0.05' }, '0.000000002', '0.05', '0.000000002'],
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
    assert.is(balanceOf(walletAfter(events)), balance);
  });
}

test('an amount that is worth nothing is refused', () => {
  given(wallet, story(create({ topup_conversion_rate: '100000000' })))
    .when(loadCredits(id, [load('1', { quantity: { amount: text('0.01') } })]))
    .thenProblem('invalid_operation');
});

test('an amount with more digits than its currency is refused: nobody could pay it', () => {
  for (const [currency, amount] of [
    ['jpy', '10.5'],
    ['usd', '10.555'],
    ['kwd', '1.0005'],
  ] as const) {
    given(wallet, story(create({ currency })))
      .when(loadCredits(id, [load('1', { quantity: { amount: text(amount) } })]))
      .thenProblem('validation_error');
  }
});

test('a prepaid wallet refuses more than it has, whole, and says how much there is', () => {
  const events = story(create({}, load('10')));
  try {
    debit('10.000000001')(walletAfter(events), at(9));
    assert.unreachable();
  } catch (error) {
    assert.equal((error as { details: unknown }).details, {
      reason: 'insufficient_credits',
      available: '10',
      requested: '10.000000001',
    });
  }
});

test('a postpaid wallet owes what it does not have, and a load pays the debt first', () => {
  const owing = story(create({ wallet_type: 'POST_PAID' }, load('10')), debit('25'));
  assert.is(walletAfter(owing).credit_balance, '-15');
  const paid = [...owing, ...loadCredits(id, [load('20')])(walletAfter(owing), at(9))];
  const state = walletAfter(paid);
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
    debit('90'),
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
    debit('30'),
  );
  assert.equal(breakdownOf(state), { free: '70', purchased: '50' });
  assert.is(state.credit_balance, '120');
});

test('expired credits are booked before the next movement and cannot be spent', () => {
  const soon = at(1);
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
    .when(debit('1'))
    .thenProblem('invalid_operation');
});

test('termination takes out what is left and is final', () => {
  const events = story(create({}, load('10')), terminateWallet(id, details('WALLET_TERMINATION')));
  const state = walletAfter(events);
  assert.is(state.wallet_status, 'closed');
  assert.is(state.credit_balance, '0');
  assert.equal(state.lots, []);
  for (const decision of [
    loadCredits(id, [load('1')]),
    debit('1'),
    terminateWallet(id, details('WALLET_TERMINATION')),
    changeSettings(id, { name: 'Other' }),
  ]) {
    given(wallet, events).when(decision).thenProblem('invalid_operation');
  }
});

test('a wallet that owes cannot be terminated', () => {
  given(wallet, story(create({ wallet_type: 'POST_PAID' }), debit('1')))
    .when(terminateWallet(id, details('WALLET_TERMINATION')))
    .thenProblem('invalid_operation');
});

test('a wallet that does not exist is 404 to every command', () => {
  for (const decision of [
    loadCredits(id, [load('1')]),
    debit('1'),
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
  given(wallet, frozen).when(debit('1')).thenProblem('invalid_operation');
  given(wallet, frozen).when(freezeWallet(id)).then([]);
  const after = [
    ...frozen,
    ...loadCredits(id, [load('5')])(walletAfter(frozen), at(8)),
    ...unfreezeWallet(id)(walletAfter(frozen), at(9)),
  ];
  given(wallet, after)
    .when(debit('15'))
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
    debit('20'),
    debit('29'),
    debit('31'),
    debit('5'),
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

test('termination takes the balance to zero, which is judged like every other change', () => {
  const events = story(create(alerting, '100'), terminateWallet(id, details('WALLET_TERMINATION')));
  assert.equal(
    events.slice(2).map((event) => [event.type, walletAfter(events).alert_state]),
    [
      ['CreditsDebited', 'in_alarm'],
      ['AlertStateChanged', 'in_alarm'],
      ['WalletClosed', 'in_alarm'],
    ],
  );
});

test('alerts that are switched off or changed are judged again at once', () => {
  const low = story(create(alerting, load('10')));
  assert.is(walletAfter(low).alert_state, 'in_alarm');
  given(wallet, low)
    .when(changeSettings(id, { alert_settings: null }))
    .thenState((state) => assert.is(state?.alert_state, 'ok'));
});

test.run();
