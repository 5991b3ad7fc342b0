import type { Stamped } from '@counterfoil/kernel';
import { given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { moveInBulk } from '../bulk/bulk.ts';
import {
  changeSettings,
  freezeWallet,
  loadCredits,
  settleDue,
  unfreezeWallet,
  type WalletDecision,
} from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { holdCredits } from '../holds/decisions.ts';
import { walletPublicEvents } from '../public-events.ts';
import { at, create, debit, debitOf, history, holdOf, id, load } from '../test-wallet.ts';
import { walletView } from '../view.ts';
import { nextDue, type Wallet, wallet } from '../wallet.ts';
import { cancelTopUp, completeTopUp } from './decisions.ts';

const test = suite('automatic top-up');

type Log = readonly Stamped<WalletEvent>[];

/** Below or at 20 credits, 100 more. */
const rule = { enabled: true, threshold: '20', amount: '100', invoicing: false };
const withRule = (changes: object = {}, credits = '50') =>
  create({ auto_topup: { ...rule, ...changes } }, credits);

/** The same for a wallet that was made without it. */
const setting = (changes: object = {}) =>
  changeSettings(id, { auto_topup: { ...rule, ...changes } as never });

const stateOf = (log: Log): Wallet => log.reduce(wallet.evolve, wallet.initial) as Wallet;
const automaticIn = (log: Log) =>
  log.flatMap((event) =>
    (event.type === 'CreditsLoaded' || event.type === 'TopUpRequested') && event.data.automatic
      ? [[event.type, event.data.credits, event.data.automatic.number]]
      : [],
  );
/** The id of the top-up that the wallet ordered by itself. */
const waiting = (log: Log): string => stateOf(log).topups[0]?.transaction_id ?? '';

for (const [what, decision, balance] of [
  ['a debit to just above the threshold', debit('29.999999999'), '20.000000001'],
  ['a debit to the threshold', debit('30'), '120'],
  ['a debit below it', debit('31'), '119'],
  ['a hold to below it', holdCredits(id, holdOf('a', '40')), '150'],
  [
    'a bulk that ends above it',
    moveInBulk(
      id,
      [
        { type: 'debit', debit: debitOf('40') },
        { type: 'credit', load: load('40') },
      ],
      true,
    ),
    '50',
  ],
  [
    'a bulk that ends below it',
    moveInBulk(
      id,
      [
        { type: 'credit', load: load('1') },
        { type: 'debit', debit: debitOf('40') },
      ],
      true,
    ),
    '111',
  ],
] as const) {
  test(`${what} leads to ${balance}`, () => {
    const log = history([0, withRule()], [1, decision]);
    assert.is(stateOf(log).credit_balance, balance);
  });
}

test('an expiry is a change too, and so is a load that does not suffice', () => {
  const expired = history(
    [0, create({ auto_topup: rule }, load('50', { expiresAt: at(5) }))],
    [9, settleDue(id)],
  );
  assert.is(stateOf(expired).credit_balance, '100');
  const loaded = [
    [0, create({}, '5')],
    [1, setting()],
    [2, loadCredits(id, [load('1')])],
  ] as const;
  assert.is(automaticIn(history(...loaded)).length, 1);
  const again = history(
    [0, create({}, '5')],
    [1, setting({ amount: '1' })],
    [2, loadCredits(id, [load('1')])],
  );
  assert.is(stateOf(again).credit_balance, '8');
});

test('it is in the same append, refers to the fall, and is a load like every other', () => {
  const log = history([0, withRule()], [1, debit('30')]);
  const [debited, loaded] = log.slice(2);
  assert.is(debited?.type, 'CreditsDebited');
  assert.is(loaded?.type, 'CreditsLoaded');
  if (debited?.type !== 'CreditsDebited' || loaded?.type !== 'CreditsLoaded') return;
  const { transaction_id: crossing } = debited.data;
  assert.is(loaded.data.reason, 'PURCHASED_CREDIT_DIRECT');
  assert.is(loaded.data.reference_id, crossing);
  assert.is(loaded.data.idempotency_key, 'auto_topup:2026-01-01:1');
  const occasion = { cause: 'change', cause_id: crossing };
  assert.equal(loaded.data.automatic, { ...occasion, day: '2026-01-01', number: 1 });
});

test('with invoicing there is one order for a fall, and no other while it waits', () => {
  const log = history([0, withRule({ invoicing: true })], [1, debit('30')], [2, debit('5')]);
  assert.equal(automaticIn(log), [['TopUpRequested', '100', 1]]);
  assert.is(stateOf(log).credit_balance, '15');
  const again = history(
    [0, withRule({ invoicing: true })],
    [1, debit('30')],
    [2, completeTopUp(id, waiting(log))],
    [3, debit('101')],
  );
  assert.is(waiting(again) === waiting(log), false);
  assert.equal(
    automaticIn(again).map(([, , number]) => number),
    [1, 1, 2],
  );
});

test('the decision made again at another moment orders the same', () => {
  const first = history([0, withRule({ invoicing: true })], [1, debit('30')]);
  const later = history([0, withRule({ invoicing: true })], [7, debit('30')]);
  assert.is(waiting(first), waiting(later));
});

test('an order that was given up is made again on the next occasion, and not by its end', () => {
  const ordered = history([0, withRule({ invoicing: true })], [1, debit('30')]);
  const cancel = cancelTopUp(id, waiting(ordered));
  const cancelled = [
    [0, withRule({ invoicing: true })],
    [1, debit('30')],
    [2, cancel],
  ] as const;
  assert.is(automaticIn(history(...cancelled)).length, 1);
  const again = history(...cancelled, [3, debit('1')]);
  assert.equal(
    automaticIn(again).map(([, , number]) => number),
    [1, 2],
  );
  assert.is(waiting(again) === waiting(ordered), false);
  assert.is(automaticIn(history(...cancelled, [4, setting({ threshold: '19' })])).length, 1);
  assert.is(automaticIn(history(...cancelled, [4, setting({ threshold: '21' })])).length, 2);
});

test('one that is too small is made again with the next change, and not by itself', () => {
  const log = history([0, withRule({ amount: '1' })], [1, debit('40')], [2, debit('1')]);
  assert.equal(
    automaticIn(log).map(([, credits]) => credits),
    ['1', '1'],
  );
  assert.is(stateOf(log).credit_balance, '11');
});

for (const [what, steps, cause] of [
  ['a wallet that is made with too little', [[0, withRule({}, '5')]], 'settings'],
  [
    'a wallet with too little when it is switched on',
    [
      [0, create({}, '5')],
      [1, setting()],
    ],
    'settings',
  ],
  [
    'a refused debit of a wallet above the threshold',
    [
      [0, withRule({}, '22')],
      [1, debit('23')],
    ],
    'refused_debit',
  ],
  [
    'a refused hold of it',
    [
      [0, withRule({}, '22')],
      [1, holdCredits(id, holdOf('a', '23'))],
    ],
    'refused_debit',
  ],
  [
    'a bulk of which one debit is refused',
    [
      [0, withRule({}, '22')],
      [1, moveInBulk(id, [{ type: 'debit', debit: debitOf('23') }], false)],
    ],
    'refused_debit',
  ],
  [
    'the unfreezing of a wallet of which everything has expired',
    [
      [0, create({ auto_topup: rule }, load('50', { expiresAt: at(5) }))],
      [1, freezeWallet(id)],
      [9, settleDue(id)],
      [10, unfreezeWallet(id)],
    ],
    'unfreezing',
  ],
  [
    'a new day after the breaker',
    [
      [0, withRule({ daily_limit: 1 })],
      [1, debit('50')],
      [2, debit('100')],
      [86_399, settleDue(id)],
      [86_400, settleDue(id)],
    ],
    'new_day',
  ],
] as const) {
  test(`what tops a wallet up: ${what}`, () => {
    const log = history(...steps);
    const last = log.findLast(({ type }) => type === 'CreditsLoaded');
    assert.is(last?.type === 'CreditsLoaded' && last.data.automatic?.cause, cause);
    assert.is(log.at(-1), last, 'it is not the last event');
  });
}

test('it is due the day after the breaker, unless nothing is wanted by then', () => {
  const stopped = [
    [0, withRule({ daily_limit: 1 })],
    [1, debit('50')],
    [2, debit('100')],
  ] as const;
  const dueAfter = (...more: readonly (readonly [number, WalletDecision])[]) =>
    nextDue(stateOf(history(...stopped, ...more)));
  assert.is(dueAfter(), at(86_400));
  assert.is(dueAfter([3, loadCredits(id, [load('50')])]), null);
  assert.is(dueAfter([3, setting({ enabled: false })]), null);
  assert.is(dueAfter([3, freezeWallet(id)]), null);
  assert.is(dueAfter([86_400, settleDue(id)]), null);
});

test('the refusal of a debit stands, and is repeated; what follows from it happens once', () => {
  const log = history([0, withRule({ invoicing: true }, '22')], [1, debit('23')], [2, debit('5')]);
  assert.equal(automaticIn(log), [['TopUpRequested', '100', 1]]);
  given(wallet, [...history([0, withRule({ invoicing: true }, '22')])])
    .when(debit('23'))
    .thenProblem('invalid_operation');
});

test('no top-up while it is off or the wallet is frozen', () => {
  assert.equal(automaticIn(history([0, withRule({ enabled: false })], [1, debit('40')])), []);
  const frozen = [
    [0, create({ auto_topup: rule }, load('50', { expiresAt: at(5) }))],
    [1, loadCredits(id, [load('10')])],
    [2, freezeWallet(id)],
    [9, settleDue(id)],
  ] as const;
  assert.equal(automaticIn(history(...frozen)), []);
});

test('the breaker stops it after so many on one UTC day, says so once, and starts again the next', () => {
  const day = 86_400;
  const falls = [1, 2, 3, 4].map((second) => [second, debit('100')] as const);
  const log = history([0, withRule({ daily_limit: 2 }, '120')], ...falls.slice(0, 2), [
    3,
    debit('100'),
  ]);
  assert.equal(
    automaticIn(log).map(([, , number]) => number),
    [1, 2],
  );
  const stops = (each: Log) => each.filter(({ type }) => type === 'AutomaticTopUpStopped');
  assert.is(stops(log).length, 1);
  const more = [
    [3, debit('100')],
    [4, debit('5')],
  ] as const;
  const quiet = history([0, withRule({ daily_limit: 2 }, '120')], ...falls.slice(0, 2), ...more);
  assert.is(stops(quiet).length, 1);
  assert.equal(walletView(stateOf(quiet)).auto_topup_status, {
    day: '2026-01-01',
    topups: 2,
    stopped_on: '2026-01-01',
  });
  const start = [0, withRule({ daily_limit: 2 }, '120')] as const;
  const next = history(start, ...falls.slice(0, 2), ...more, [day, debit('1')]);
  assert.equal(automaticIn(next).at(-1), ['CreditsLoaded', '100', 1]);
  assert.is(walletView(stateOf(next)).auto_topup_status?.stopped_on, undefined);
});

test('ten of one day are the limit where the wallet names none', () => {
  const falls = Array.from({ length: 12 }, (_, index) => [index + 1, debit('100')] as const);
  const log = history([0, withRule({}, '120')], ...falls.slice(0, 11));
  assert.is(automaticIn(log).length, 10);
  assert.is(walletView(stateOf(log)).auto_topup?.daily_limit, 10);
});

test('the alert is judged before and after it', () => {
  const alert_settings = {
    alert_enabled: true,
    critical: { threshold: '20', condition: 'below' },
  };
  const log = history([0, create({ auto_topup: rule, alert_settings }, '50')], [1, debit('30')]);
  assert.equal(
    log
      .slice(2)
      .map((event) => (event.type === 'AlertStateChanged' ? event.data.after : event.type)),
    ['CreditsDebited', 'in_alarm', 'CreditsLoaded', 'ok'],
  );
});

test('the breaker raises an alert that says what it is', () => {
  const log = history(
    [0, withRule({ daily_limit: 1 }, '120')],
    [1, debit('100')],
    [2, debit('100')],
  );
  const event = log.at(-1) as Log[number];
  assert.is(event.type, 'AutomaticTopUpStopped');
  const after = stateOf(log);
  const [message] = walletPublicEvents.publish({ event, before: after, after } as never, {});
  assert.is(message?.type, 'wallet.credit_balance.dropped');
  assert.equal(message?.body.alert, {
    alert_type: 'auto_topup_stopped',
    state: 'ok',
    available: '20',
    current_balance: '20',
    credit_balance: '20',
    alert_settings: undefined,
  });
});

test('an order is published when it is made and when it ends', () => {
  const log = history([0, withRule({ invoicing: true })], [1, debit('30')]);
  const all = history(
    [0, withRule({ invoicing: true })],
    [1, debit('30')],
    [2, completeTopUp(id, waiting(log))],
  );
  let state = wallet.initial;
  const told = all.flatMap((event) => {
    const before = state;
    state = wallet.evolve(state, event);
    return walletPublicEvents.publish({ event, before, after: state } as never, {});
  });
  assert.equal(
    told.flatMap(({ type, body }) =>
      type === 'wallet.transaction.created'
        ? [(body as { transaction: { transaction_status: string } }).transaction.transaction_status]
        : [],
    ),
    ['completed', 'completed', 'pending', 'completed'],
  );
});

test.run();
