import {
  type Instant,
  instantOf,
  Problem,
  RefusedWithEvents,
  type TransactionId,
} from '@counterfoil/kernel';
import { stampAt } from '@counterfoil/testkit';
import {
  type Command,
  effectOf,
  entryNumbers,
  newIdsIn,
  Oracle,
  viewIn,
} from '@counterfoil/testkit/ledger';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { balanceAdder } from './audit/time-travel.ts';
import { moveInBulk } from './bulk/bulk.ts';
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
import { captureHold, changeHold, holdCredits, voidHold } from './holds/decisions.ts';
import type { Load } from './ledger/entries.ts';
import { isMovement } from './ledger/transaction.ts';
import { reverseEntry } from './reversals/decisions.ts';
import { type Act, acts, type Entry } from './test-acts.ts';
import { create, debitOf, details, id, reversibleIn } from './test-wallet.ts';
import { cancelTopUp, completeTopUp, requestTopUp } from './topups/decisions.ts';
import { walletView } from './view.ts';
import { type Wallet, type WalletState, wallet } from './wallet.ts';

const test = suite('decisions of a wallet against the oracle');

/** The stories begin four minutes before a new day. */
const start = Date.parse('2026-01-01T23:56:00.000Z');

/** An act as the wallet decides on it, and as the oracle does: null for what falls due by itself. */
interface Asked {
  readonly decide: WalletDecision;
  readonly command: Command | null;
}

const instantAfter = (now: number, ahead: number | null): Instant | null =>
  ahead === null ? null : instantOf(now + ahead * 1000);

const loadOf = (entry: Extract<Entry, { kind: 'load' }>, now: number): Load => ({
  ...details(entry.purchased ? 'PURCHASED_CREDIT_DIRECT' : 'FREE_CREDIT_GRANT'),
  quantity: { credits: entry.credits },
  priority: entry.priority,
  expiresAt: instantAfter(now, entry.ahead),
  ...datedBack(now, entry.behind),
});

const datedBack = (now: number, behind: number | null) =>
  behind === null ? {} : { effectiveAt: instantOf(now - behind * 1000) };

/** The same over the wire. */
const effective = ({ effectiveAt }: { readonly effectiveAt?: Instant }) =>
  effectiveAt === undefined ? {} : { effective_at: effectiveAt };

/** A load as it is asked for over the wire. */
const loadBody = ({ reason, priority, expiresAt, ...load }: Load) => ({
  transaction_reason: reason,
  ...effective(load),
  ...(priority === null ? {} : { priority }),
  ...(expiresAt === null ? {} : { expiry_date_utc: expiresAt }),
});

/** Returns the open record at an index; beyond the last one none. */
const picked = (open: readonly string[], which: number): string =>
  open[which % (open.length + 1)] ?? 'none';

/** An order of long ago, which ended as it is wanted now. */
const done = (transaction_status: 'completed' | 'failed') =>
  ({ transaction_status, transaction_reason: 'PURCHASED_CREDIT_INVOICED' }) as const;

function asked(act: Act, log: Log, state: Wallet, now: number): Asked {
  const index = log.length;
  const hold =
    'which' in act
      ? picked(
          state.holds.map((each) => each.id),
          act.which,
        )
      : '';
  const open = state.topups.map(({ transaction_id }) => transaction_id);
  const order = 'which' in act ? picked(open, act.which) : '';
  switch (act.kind) {
    case 'load': {
      const load = loadOf(act, now);
      const body = { ...loadBody(load), credits_to_add: act.credits };
      return { decide: loadCredits(id, [load]), command: { kind: 'top-up', body } };
    }
    case 'debit': {
      const { credits } = act;
      const dated = datedBack(now, act.behind);
      const command = { kind: 'debit', body: { credits, ...effective(dated) } } as const;
      return { decide: debitCredits(id, { ...debitOf(credits), ...dated }), command };
    }
    case 'hold': {
      const expires = instantAfter(now, act.ahead);
      const { credits } = act;
      const given = { holdId: `hold_${index}` as never, description: null, metadata: {} };
      const body = { credits, ...(expires === null ? {} : { expires_at: expires }) };
      const decide = holdCredits(id, { ...given, credits, expiresAt: expires });
      return { decide, command: { kind: 'hold', body } };
    }
    case 'capture': {
      const body = {
        ...(act.credits === null ? {} : { credits: act.credits }),
        ...(act.isLast ? {} : { final: false }),
      };
      const decide = captureHold(id, hold, act.credits, details(), act.isLast);
      return { decide, command: { kind: 'capture', hold, body } };
    }
    case 'reverse': {
      const entry = reversibleIn(log, act.back);
      if (!entry) return { decide: settleDue(id), command: null };
      const expiresAt = instantAfter(now, act.ahead);
      const { credits } = act;
      const body = {
        ...(credits === null ? {} : { credits }),
        ...(expiresAt === null ? {} : { expiry_date_utc: expiresAt }),
      };
      const decide = reverseEntry(id, entry, {
        ...details('CREDIT_ADJUSTMENT'),
        credits,
        expiresAt,
      });
      return { decide, command: { kind: 'reverse', entry: entry.transactionId, body } };
    }
    case 'change-hold': {
      const expiresAt = instantAfter(now, act.ahead);
      const { credits } = act;
      const body = {
        ...(credits === null ? {} : { credits }),
        ...(expiresAt === null ? {} : { expires_at: expiresAt }),
      };
      const decide = changeHold(id, hold, { credits, expiresAt });
      return { decide, command: { kind: 'change-hold', hold, body } };
    }
    case 'void':
      return { decide: voidHold(id, hold), command: { kind: 'void', hold } };
    case 'order': {
      const reason = 'PURCHASED_CREDIT_INVOICED';
      const plain = {
        ...act,
        kind: 'load',
        priority: null,
        behind: null,
        purchased: true,
      } as const;
      const load = { ...loadOf(plain, now), reason } as const;
      const decide = requestTopUp(id, load, `wtxn_order_${index}` as TransactionId);
      const body = { ...loadBody(load), credits_to_add: act.credits };
      return { decide, command: { kind: 'top-up', body } };
    }
    case 'complete':
      return {
        decide: completeTopUp(id, order, done('completed')),
        command: { kind: 'complete', order },
      };
    case 'cancel':
      return { decide: cancelTopUp(id, order, done('failed')), command: { kind: 'cancel', order } };
    case 'alerts': {
      const critical =
        act.alarm === null ? null : ({ threshold: act.alarm, condition: 'below' } as const);
      return settings({ alert_settings: critical && { alert_enabled: true, critical } });
    }
    case 'automatic':
      return settings({ auto_topup: act.settings });
    case 'bulk': {
      const { atomic } = act;
      const loads = act.entries.map((entry) => {
        const load = entry.kind === 'load' ? loadOf(entry, now) : null;
        return { entry, load, dated: datedBack(now, entry.behind) };
      });
      const decide = moveInBulk(
        id,
        loads.map(({ entry, load, dated }) =>
          load
            ? { type: 'credit', load }
            : { type: 'debit', debit: { ...debitOf(entry.credits), ...dated } },
        ),
        atomic,
      );
      const entries = loads.map(({ entry: { credits }, load, dated }) =>
        load
          ? ({ type: 'credit', credits, ...loadBody(load) } as const)
          : ({ type: 'debit', credits, ...effective(dated) } as const),
      );
      return { decide, command: { kind: 'bulk', body: { atomic, entries } } };
    }
    case 'settle':
      return { decide: settleDue(id), command: null };
    case 'freeze':
      return { decide: freezeWallet(id), command: { kind: 'freeze' } };
    case 'unfreeze':
      return { decide: unfreezeWallet(id), command: { kind: 'unfreeze' } };
    case 'terminate':
      return {
        decide: terminateWallet(id, details('WALLET_TERMINATION')),
        command: { kind: 'terminate' },
      };
    default:
      return act satisfies never;
  }
}

const settings = (
  body: Extract<Command, { kind: 'settings' }>['body'] & Parameters<typeof changeSettings>[1],
): Asked => ({ decide: changeSettings(id, body), command: { kind: 'settings', body } });

const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), acts), {
  minLength: 20,
  maxLength: 60,
});

/** The events of a decision, or of its refusal. */
interface Decided {
  readonly isRefused: boolean;
  readonly events: readonly WalletEvent[];
}

function attempt(decide: WalletDecision, state: WalletState, now: number): Decided {
  try {
    return { isRefused: false, events: decide(state, instantOf(now)) };
  } catch (error) {
    if (error instanceof Problem) return { isRefused: true, events: [] };
    if (!(error instanceof RefusedWithEvents)) throw error;
    return { isRefused: true, events: error.events as readonly WalletEvent[] };
  }
}

type Log = Parameters<ReturnType<typeof balanceAdder>['take']>[0][];

/** A wallet under test, with its log and what the oracle says that it held at each time. */
class Story {
  readonly log: Log = [];
  /** Balance and held credits at each time, as the oracle saw them then. */
  readonly past = new Map<number, readonly [balance: string, held: string]>();
  readonly #oracle: Oracle;
  #state: WalletState = null;
  #now = start;

  constructor(type: 'PRE_PAID' | 'POST_PAID') {
    const body = { customer_id: 'cust_01', currency: 'usd', wallet_type: type };
    this.#oracle = new Oracle(body);
    this.#oracle.run({ kind: 'create', body }, start);
    this.#take(attempt(create({ wallet_type: type }), null, start).events);
  }

  get state(): Wallet {
    return this.#state as Wallet;
  }

  get now(): number {
    return this.#now;
  }

  /** Does an act some seconds later, and asserts that it comes out as the oracle says. */
  act(wait: number, act: Act): void {
    this.#pass(this.#now + wait * 1000);
    const { decide, command } = asked(act, this.log, this.state, this.#now);
    const { isRefused, events } = attempt(decide, this.#state, this.#now);
    const name = `${act.kind} at ${instantOf(this.#now)}`;
    // What has ended long ago is found in the log, which is no matter of the decision.
    const isOver = command !== null && 'order' in command && command.order === 'none';
    if (isOver) assert.equal(events, [], name);
    else {
      const foreseen = this.#foreseen(command, events);
      assert.equal({ isRefused, effects: this.#said(events) }, foreseen, name);
    }
    this.#take(events);
    assert.equal(viewIn(walletView(this.state)), this.#oracle.view(), name);
    this.#remember(this.#now);
  }

  /** Lets time go by, and has the oracle say what was there when something ended, before and after. */
  #pass(now: number): void {
    for (const end of this.#oracle.endings(this.#now, now)) {
      for (const time of [end - 1000, end, end + 1000]) {
        if (this.#now < time && time < now) this.#remember(time);
      }
    }
    this.#now = now;
  }

  #remember(time: number): void {
    const { credit_balance, credits_held } = this.#oracle.viewAt(time);
    this.past.set(time, [credit_balance, credits_held]);
  }

  /** The content of the wallet at a time, as the oracle adds it up afterwards. */
  pastAt(time: number, knownAt: number): readonly [balance: string, held: string] {
    const { balance, held } = this.#oracle.pastAt(time, knownAt);
    return [balance, held];
  }

  #foreseen(command: Command | null, events: readonly WalletEvent[]) {
    const ids = newIdsIn(events);
    this.#oracle.numbers = entryNumbers([...this.log, ...events]);
    if (!command) return { isRefused: false, effects: this.#oracle.settle(this.#now, ids) };
    const ruling = this.#oracle.run(command, this.#now, ids);
    return { isRefused: ruling.kind === 'refused', effects: ruling.effects };
  }

  #said(events: readonly WalletEvent[]) {
    const numbers = entryNumbers([...this.log, ...events]);
    return events.map((event) => effectOf(event, numbers));
  }

  #take(events: readonly WalletEvent[]): void {
    const stamp = { ...stampAt(0), occurred_at: instantOf(this.#now) };
    for (const { type, data } of events) {
      const event = { type, data: wallet.events[type].parse(data), stamp } as Log[number];
      this.log.push(event);
      this.#state = wallet.evolve(this.#state, event);
    }
  }
}

/** The same act, dated back in no part. */
function ofNow(act: Act): Act {
  if (act.kind === 'load' || act.kind === 'debit') return { ...act, behind: null };
  if (act.kind !== 'bulk') return act;
  return { ...act, entries: act.entries.map((entry) => ({ ...entry, behind: null })) };
}

let commands = 0;

for (const type of ['PRE_PAID', 'POST_PAID'] as const) {
  test(`${type}: every command leads to the events that the oracle foresees`, () => {
    fc.assert(
      fc.property(steps, fc.option(fc.constant(true), { freq: 3 }), (list, ends) => {
        const story = new Story(type);
        const isDatedBack = list.length % 2 === 0;
        for (const [wait, act] of list) story.act(wait, isDatedBack ? act : ofNow(act));
        if (ends) story.act(1, { kind: 'terminate' });
        // What has ended by now is booked, so that the log tells the whole past.
        story.act(0, { kind: 'settle' });
        commands += list.length;
        assertChain(story.log);
        assertPast(story, isDatedBack);
        assertLots(story);
      }),
      { numRuns: 260, includeErrorInReport: true },
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

const addedUp = ({ log }: Story, time: number, knownAt: number) => {
  const adder = balanceAdder(instantOf(time), instantOf(knownAt));
  for (const event of log) adder.take(event);
  return adder.result();
};

/**
 * Checks the past at every time of a story: as it is known now, and as it was known at that time. When
 * nothing was dated back, what is known now is what was there then.
 */
function assertPast(story: Story, isDatedBack: boolean): void {
  for (const [time, right] of story.past) {
    if (!isDatedBack) assert.equal(story.pastAt(time, story.now), right, `at ${instantOf(time)}`);
    for (const knownAt of [time, story.now]) {
      const { credit_balance, credits_held } = addedUp(story, time, knownAt);
      const name = `at ${instantOf(time)}, known at ${instantOf(knownAt)}`;
      assert.equal([credit_balance, credits_held], story.pastAt(time, knownAt), name);
    }
  }
}

/** Checks that the lots added up at the end are those of the wallet. */
function assertLots(story: Story): void {
  const left = ({ remaining }: { readonly remaining: string }) => remaining;
  assert.equal(addedUp(story, story.now, story.now).lots.map(left), story.state.lots.map(left));
}

test.run();
