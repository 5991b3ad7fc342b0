import {
  type DecimalText,
  type Instant,
  instantOf,
  Problem,
  type TransactionId,
} from '@counterfoil/kernel';
import { stampAt } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { balanceAdder } from './audit/time-travel.ts';
import { type BulkEntry, moveInBulk } from './bulk/bulk.ts';
import {
  changeSettings,
  debitCredits,
  freezeWallet,
  loadCredits,
  settleDue,
  terminateWallet,
  unfreezeWallet,
  type WalletDecision,
} from './decisions.ts';
import type { WalletEvent } from './events.ts';
import { captureHold, holdCredits, voidHold } from './holds/decisions.ts';
import type { Load } from './ledger/entries.ts';
import { isMovement } from './ledger/transaction.ts';
import type { AlertSettings, AutoTopup } from './settings.ts';
import { type Act, byItself, type Plain, PlainWallet, type Rule } from './test-plain-wallet.ts';
import { create, details, id } from './test-wallet.ts';
import { cancelTopUp, completeTopUp, requestTopUp } from './topups/decisions.ts';
import { walletView } from './view.ts';
import { type Wallet, type WalletState, wallet } from './wallet.ts';

const test = suite('wallet against a plain one');

/** The stories begin four minutes before a new day. */
const start = '2026-01-01T23:56:00.000Z';
const second = (units: number): Instant => instantOf(Date.parse(start) + units * 1000);
const dayOf = (units: number): string => (units < 240 ? '2026-01-01' : '2026-01-02');
/** Billionths of a credit as a canonical decimal, written without the code under test. */
const shown = (units: bigint): DecimalText => {
  const digits = (units < 0n ? -units : units).toString().padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  const text = digits.slice(0, -9) + (fraction && `.${fraction}`);
  return (units < 0n ? `-${text}` : text) as DecimalText;
};

const loadOf = ({
  credits,
  priority,
  expires,
  purchased,
}: Extract<Act, { kind: 'load' }>): Load => ({
  ...details(purchased ? 'PURCHASED_CREDIT_DIRECT' : 'FREE_CREDIT_GRANT'),
  quantity: { credits: shown(credits) },
  priority,
  expiresAt: expires === null ? null : second(expires),
});
const debitOf = (credits: bigint) => ({
  ...details(),
  credits: shown(credits),
});

function decisionOf(act: Act, state: WalletState): WalletDecision {
  switch (act.kind) {
    case 'load':
      return loadCredits(id, [loadOf(act)]);
    case 'debit':
      return debitCredits(id, debitOf(act.credits));
    case 'hold':
      return holdCredits(id, {
        holdId: act.hold as never,
        credits: shown(act.credits),
        expiresAt: act.expires === null ? null : second(act.expires),
        description: null,
        metadata: {},
      });
    case 'capture':
      return captureHold(id, act.hold, act.credits === null ? null : shown(act.credits), details());
    case 'void':
      return voidHold(id, act.hold);
    case 'settle':
      return settleDue(id);
    case 'freeze':
      return freezeWallet(id);
    case 'unfreeze':
      return unfreezeWallet(id);
    case 'terminate':
      return terminateWallet(id, details('WALLET_TERMINATION'));
    case 'order':
      return requestTopUp(id, orderOf(act), act.order as TransactionId);
    case 'complete':
      return completeTopUp(id, idOf(act.order, state));
    case 'cancel':
      return cancelTopUp(id, idOf(act.order, state));
    case 'alerts':
      return changeSettings(id, { alert_settings: alertsOf(act.alarm) });
    case 'automatic':
      return changeSettings(id, { auto_topup: act.rule && autoTopUpOf(act.rule) });
    case 'bulk':
      return moveInBulk(id, act.entries.map(bulkEntryOf), act.atomic);
    default:
      return act satisfies never;
  }
}

const orderOf = ({ credits, expires }: Extract<Act, { kind: 'order' }>): Load => ({
  ...loadOf({ kind: 'load', credits, priority: null, expires, purchased: true }),
  reason: 'PURCHASED_CREDIT_INVOICED',
});

/** The id of an open order; the plain book-keeping knows the automatic one by a name of its own. */
const idOf = (name: string, state: WalletState): string =>
  name === byItself
    ? (state?.topups.find(({ automatic }) => automatic)?.transaction_id ?? '')
    : name;

const autoTopUpOf = ({ amount, threshold, invoicing, limit }: Rule): AutoTopup => ({
  enabled: true,
  amount: shown(amount),
  threshold: shown(threshold),
  invoicing,
  daily_limit: limit,
});

const bulkEntryOf = (act: Extract<Act, { kind: 'load' | 'debit' }>): BulkEntry =>
  act.kind === 'load'
    ? { type: 'credit', load: loadOf(act) }
    : { type: 'debit', debit: debitOf(act.credits) };

const alertsOf = (alarm: bigint | null): AlertSettings | null =>
  alarm === null
    ? null
    : { alert_enabled: true, critical: { threshold: shown(alarm), condition: 'below' } };

const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 60n }).map((credits) => credits * 10n ** 9n),
  fc.bigInt({ min: 1n, max: 10n ** 11n }),
);
/** Seconds from the moment of the act on. */
const ahead = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 });
const load = fc.record({
  kind: fc.constant('load' as const),
  credits: amount,
  priority: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 2 }),
  expires: ahead,
  purchased: fc.boolean(),
});
const debit = fc.record({ kind: fc.constant('debit' as const), credits: amount });
/** An index of the open holds or orders; the last possible one names none. */
const holdName = fc.constantFrom('0', '1', '2', '3');
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: load },
  { weight: 5, arbitrary: debit },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      hold: holdName,
      credits: amount,
      expires: ahead,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('capture' as const),
      hold: holdName,
      credits: fc.option(amount, { freq: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('void' as const), hold: holdName }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('order' as const),
      order: fc.constant(''),
      credits: amount,
      expires: ahead,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('complete' as const, 'complete' as const, 'cancel' as const),
      order: holdName,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('automatic' as const),
      rule: fc.option(
        fc.record({
          threshold: amount,
          amount,
          invoicing: fc.boolean(),
          limit: fc.integer({ min: 1, max: 3 }),
        }),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('freeze', 'unfreeze') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unfreeze' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('alerts' as const),
      alarm: fc.option(fc.bigInt({ min: -50n, max: 50n }).map((credits) => credits * 10n ** 9n)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('bulk' as const),
      atomic: fc.boolean(),
      entries: fc.array(fc.oneof(load, debit), { minLength: 1, maxLength: 4 }),
    }),
  },
);
const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), acts), {
  minLength: 20,
  maxLength: 60,
});

/** The same act with its times counted from the start, and its hold or order by name. */
function placed(act: Act, now: number, plain: PlainWallet, index: number): Act {
  if (act.kind === 'bulk') {
    const entries = act.entries.map((entry) => placed(entry, now, plain, index) as typeof entry);
    return { ...act, entries };
  }
  const expires = 'expires' in act && act.expires !== null ? { expires: act.expires + now } : {};
  if (act.kind === 'hold') return { ...act, ...expires, hold: `hold_${index}` };
  if (act.kind === 'order') return { ...act, ...expires, order: `wtxn_order_${index}` };
  if ('hold' in act) return { ...act, hold: picked(plain.openHolds(), act.hold) };
  if ('order' in act) return { ...act, order: picked(plain.openOrders(), act.order) };
  return { ...act, ...expires } as Act;
}

const picked = (names: readonly string[], which: string): string =>
  names[Number(which) % (names.length + 1)] ?? 'none';

function attempt(decide: WalletDecision, state: WalletState, now: number) {
  try {
    return decide(state, second(now));
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

const fold = (state: WalletState, events: readonly WalletEvent[], now: number): WalletState =>
  events.reduce<WalletState>((current, event) => {
    const data = (wallet.events[event.type] as { parse(value: unknown): unknown }).parse(
      event.data,
    );
    const stamp = { ...stampAt(0), occurred_at: second(now) };
    return wallet.evolve(current, { ...event, data, stamp } as never);
  }, state);

type Log = readonly Parameters<ReturnType<typeof balanceAdder>['take']>[0][];

/** The facts in which both wallets must agree. */
const facesOf = (state: Wallet, log: Log): Plain => ({
  status: state.wallet_status,
  balance: state.credit_balance,
  held: walletView(state).credits_held,
  alert: state.alert_state,
  lots: state.lots.map(({ sequence, remaining }) => `${sequence}: ${remaining}`),
  holds: state.holds.map(
    (hold) =>
      `${hold.id}: ${hold.parts.map(({ sequence, remaining }) => `${sequence}: ${remaining}`)}`,
  ),
  gone: goneIn(log),
  orders: state.topups.map(
    ({ automatic, transaction_id, credits }) =>
      `${automatic ? byItself : transaction_id}: ${credits}`,
  ),
  lost: lostIn(log),
  automatic: automaticIn(state, log),
  alerts: countIn(log, 'AlertStateChanged'),
});

const countIn = (log: Log, wanted: WalletEvent['type']): number =>
  log.filter(({ type }) => type === wanted).length;

const automaticIn = ({ automatic: { day, count, stopped_on } }: Wallet, log: Log): string =>
  `${day} ${count} ${stopped_on} ${countIn(log, 'AutomaticTopUpStopped')}`;

const secondOf = (instant: Instant): number => (Date.parse(instant) - Date.parse(start)) / 1000;

/** The top-ups that were given up, with reason and time. */
const lostIn = (log: Log): string[] =>
  log.flatMap(({ type, data }) => {
    if (type !== 'TopUpFailed') return [];
    const name = data.automatic ? byItself : data.transaction_id;
    return [`${name}: ${data.cause} at ${secondOf(data.failed_at)}`];
  });

/** The expired credits, with the number of the load and the second from which they were gone. */
function goneIn(log: Log): string[] {
  const numbers = new Map<string, number>();
  return log.flatMap(({ type, data }) => {
    if (type === 'CreditsLoaded') numbers.set(data.transaction_id, data.sequence);
    if (type !== 'CreditsExpired') return [];
    const number = numbers.get(data.reference_id ?? '');
    return [`${number}: ${data.credits} at ${secondOf(data.expired_at)}`];
  });
}

let commands = 0;

for (const type of ['PRE_PAID', 'POST_PAID'] as const) {
  test(`${type}: after every command it is what the plainest book-keeping says`, () => {
    fc.assert(
      fc.property(steps, fc.option(fc.constant(true), { freq: 3 }), (list, ends) => {
        let now = 0;
        let state = fold(null, create({ wallet_type: type })(null, second(0)), 0);
        const plain = new PlainWallet(type === 'POST_PAID', shown, dayOf);
        const log: Log[number][] = [];
        const all = ends ? [...list, [1, { kind: 'terminate' }] as const] : list;
        for (const [index, [wait, relative]] of all.entries()) {
          now += wait;
          const act = placed(relative as Act, now, plain, index);
          const events = attempt(decisionOf(act, state), state, now);
          const isDone = plain.act(act, now);
          assert.is(events !== null, isDone, `${act.kind} at ${now}`);
          state = fold(state, events ?? [], now);
          const stamp = { ...stampAt(0), occurred_at: second(now) };
          for (const event of events ?? []) log.push({ ...event, stamp });
          assert.equal(facesOf(state as Wallet, log), plain.faces(), `${act.kind} at ${now}`);
          commands += 1;
        }
        assertChain(log);
        assertPast(log, now, plain);
        assertLots(log, now, state as Wallet);
      }),
      { numRuns: 260 },
    );
  });
}

test('that was enough commands', () => {
  assert.ok(commands >= 10_000, `${commands} commands`);
});

/** The entries form a chain of balances without a gap. */
function assertChain(log: readonly WalletEvent[]): void {
  let balance = '0';
  for (const [index, { data }] of log.filter(isMovement).entries()) {
    assert.is(data.sequence, index + 1);
    assert.is(data.credit_balance_before, balance);
    balance = data.credit_balance_after;
  }
}

/** Checks the past as it is known now: at each end of something, the content that the plain book-keeping had. */
function assertPast(log: Log, now: number, plain: PlainWallet): void {
  for (const at of plain.endings()) {
    const adder = balanceAdder(second(at), second(now));
    for (const event of log) adder.take(event);
    const { credit_balance, credits_held } = adder.result();
    assert.is(credit_balance, plain.at(at)?.balance ?? '0', `balance at ${at}`);
    assert.is(credits_held, plain.at(at)?.held ?? '0', `held at ${at}`);
  }
}

/** Checks that the lots added up at the end are those of the wallet. */
function assertLots(log: Log, now: number, state: Wallet): void {
  const adder = balanceAdder(second(now), second(now));
  for (const event of log) adder.take(event);
  const left = ({ remaining }: { readonly remaining: string }) => remaining;
  assert.equal(adder.result().lots.map(left), state.lots.map(left));
}

test.run();
