import { type Instant, instantOf, millisecondsOf, Problem } from '@counterfoil/kernel';
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditRoutes } from '../audit/routes.ts';
import { balanceAdder } from '../audit/time-travel.ts';
import { moveInBulk } from '../bulk/bulk.ts';
import { debitCredits, loadCredits, settleDue, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { changeHold, holdCredits, voidHold } from '../holds/decisions.ts';
import { reverseEntry } from '../reversals/decisions.ts';
import { walletRoutes } from '../routes.ts';
import {
  at,
  create,
  debit,
  debitOf,
  details,
  history,
  holdOf,
  id,
  load,
  reversibleIn,
  text,
} from '../test-wallet.ts';
import { walletWorld } from '../test-wallet-world.ts';
import { wallet } from '../wallet.ts';

const test = suite('back-dated entries');

/** A load, or a debit, that counts from a second. */
const loadAt = (second: number, credits: string, more: object = {}) =>
  loadCredits(id, [load(credits, { effectiveAt: at(second), ...more })]);
const debitAt = (second: number, credits: string) =>
  debitCredits(id, { ...debitOf(credits), effectiveAt: at(second) });

type Events = ReturnType<typeof history>;

const stateAfter = (events: Events) => events.reduce(wallet.evolve, wallet.initial);

/** Decides at a second after events. */
const decided = (events: Events, second: number, decide: WalletDecision) =>
  decide(stateAfter(events), at(second));

/** The reason for which a decision at a second is refused, with its other details; null when it is not. */
function refusalOf(events: Events, second: number, decide: WalletDecision) {
  try {
    decided(events, second, decide);
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.details;
    throw error;
  }
}

const balance = (events: Events, asOf: number, knownAt: number) => {
  const adder = balanceAdder(at(asOf), at(knownAt));
  for (const event of events) adder.take(event);
  return adder.result();
};

/** The credits of each lot that a debit drew from, in order. */
const drawn = (events: readonly WalletEvent[]) =>
  events.flatMap((event) =>
    event.type === 'CreditsDebited' ? event.data.drawn.map(({ credits }) => credits) : [],
  );

/** The example of the page on wallets: 20 credits at second 0, 10 more at second 6, 5 taken at second 8. */
const example = [
  [0, create({}, '20')],
  [6, loadCredits(id, [load('10')])],
  [8, debit('5')],
] as const;

test('a debit counts from its instant, and is known from its recording', () => {
  const events = history(...example, [20, debitAt(4, '12')]);
  const balances = (knownAt: number) =>
    [0, 4, 7, 20].map((second) => balance(events, second, knownAt).credit_balance);
  assert.equal(balances(20), ['20', '8', '18', '13']);
  assert.equal(balances(10), ['20', '20', '30', '25']);
});

test('the chain of balances is in the order of recording', () => {
  const { data } = history(...example, [20, debitAt(4, '12')]).at(-1) as Extract<
    WalletEvent,
    { type: 'CreditsDebited' }
  >;
  assert.equal(
    [data.credit_balance_before, data.credit_balance_after, data.effective_at, data.sequence],
    ['25', '13', at(4), 4],
  );
});

test('a debit of a PRE_PAID wallet is refused above what is left of the credits of its instant', () => {
  const events = history(...example);
  assert.equal(drawn(decided(events, 20, debitAt(4, '15'))), ['15']);
  assert.equal(refusalOf(events, 20, debitAt(4, '15.000000001')), {
    reason: 'insufficient_credits_then',
    available: '15',
    requested: '15.000000001',
    effective_at: at(4),
  });
});

test('lots of its instant are drawn in draw-down order, later ones never', () => {
  const events = history(
    [0, create({}, '10')],
    [2, loadCredits(id, [load('10', { expiresAt: at(90) })])],
    [6, loadCredits(id, [load('10', { priority: 1 })])],
    [20, debitAt(4, '15')],
  );
  assert.equal(drawn(events), ['10', '5']);
  const left = (stateAfter(events)?.lots ?? []).map(({ remaining }) => remaining);
  assert.equal(left, ['10', '5']);
});

test('what has expired since pays nothing, booked or not', () => {
  const steps = [
    [0, create({}, '10')],
    [1, loadCredits(id, [load('10', { expiresAt: at(5) })])],
  ] as const;
  for (const events of [history(...steps), history(...steps, [7, settleDue(id)])]) {
    assert.is(refusalOf(events, 9, debitAt(3, '11'))?.available, '10');
    assert.equal(drawn(decided(events, 9, debitAt(3, '10'))), ['10']);
  }
});

test('what a hold keeps stays kept; what it has returned can pay again', () => {
  const held = [
    [0, create({}, '10')],
    [2, holdCredits(id, holdOf('a', '4'))],
  ] as const;
  assert.is(refusalOf(history(...held), 9, debitAt(1, '7'))?.available, '6');
  const events = history(...held, [5, voidHold(id, 'hold_a')], [9, debitAt(3, '10')]);
  assert.equal(
    [2, 3, 5, 9].map((second) => balance(events, second, 9).credit_balance),
    ['10', '0', '0', '0'],
  );
});

test('credits that a reversal gave back were not there before; what the lot had kept was', () => {
  const steps = [
    [0, create({}, '10')],
    [2, debit('8')],
  ] as const;
  const entry = reversibleIn(history(...steps), 0);
  assert.ok(entry);
  const whole = { ...details('CREDIT_ADJUSTMENT'), credits: null, expiresAt: null };
  const events = history(...steps, [5, reverseEntry(id, entry, whole)]);
  for (const [second, available] of [
    [1, '2'],
    [4, '2'],
    [5, '10'],
  ] as const) {
    assert.is(refusalOf(events, 9, debitAt(second, '11'))?.available, available);
  }
  assert.equal(drawn(decided(events, 9, debitAt(1, '2'))), ['2']);
});

/** Reverses the debit of a story, whole, at a second. */
const reversed = (events: Events, second: number) => {
  const entry = reversibleIn(events, 0);
  assert.ok(entry);
  const whole = { ...details('CREDIT_ADJUSTMENT'), credits: null, expiresAt: null };
  return [second, reverseEntry(id, entry, whole)] as const;
};

test('what a lot has kept from before a reversal is drawn once', () => {
  const story = [
    [0, create({}, '3')],
    [1, debit('2')],
  ] as const;
  const events = history(...story, reversed(history(...story), 5), [6, debitAt(2, '1')]);
  const refusal = { reason: 'insufficient_credits_then', available: '0', requested: '1' };
  assert.equal(refusalOf(events, 7, debitAt(2, '1')), { ...refusal, effective_at: at(2) });
  assert.is(refusalOf(events, 7, debitAt(5, '2')), null);
});

test('what a reversal gave back does not count from earlier because a hold kept it', () => {
  const story = [
    [0, create({}, '10')],
    [1, holdCredits(id, holdOf('a', '2'))],
    [2, debit('8')],
  ] as const;
  const back = [...story, reversed(history(...story), 5)] as const;
  const refusal = { reason: 'insufficient_credits_then', requested: '3', effective_at: at(3) };
  const ends = {
    'two holds, the older one ends first': [
      [6, holdCredits(id, holdOf('b', '8'))],
      [7, voidHold(id, 'hold_a')],
      [8, voidHold(id, 'hold_b')],
    ],
    'two holds, the younger one ends first': [
      [6, holdCredits(id, holdOf('b', '8'))],
      [7, voidHold(id, 'hold_b')],
      [8, voidHold(id, 'hold_a')],
    ],
    'one hold, which was raised': [
      [6, changeHold(id, 'hold_a', { credits: text('10'), expiresAt: null })],
      [8, voidHold(id, 'hold_a')],
    ],
  } as const;
  for (const [name, end] of Object.entries(ends)) {
    const events = history(...back, ...end);
    const found = refusalOf(events, 9, debitAt(3, '3'));
    assert.ok(found, name);
    const { available, ...rest } = found ?? {};
    assert.equal(rest, refusal, name);
    assert.ok(Number(available) <= 2, `${name}: ${available} were there`);
  }
});

test('what a lot has kept from before a reversal is not kept twice when a hold takes a part of it', () => {
  const story = [
    [0, create({}, '3')],
    [1, debit('1')],
  ] as const;
  const events = history(
    ...story,
    reversed(history(...story), 5),
    [6, holdCredits(id, holdOf('a', '1'))],
    [7, debitAt(2, '2')],
    [8, voidHold(id, 'hold_a')],
  );
  const refusal = { reason: 'insufficient_credits_then', available: '0', requested: '1' };
  assert.equal(refusalOf(events, 9, debitAt(2, '1')), { ...refusal, effective_at: at(2) });
});

test('a load that is dated back can be drawn by what counts after it, and by nothing before', () => {
  const events = history([0, create({}, '1')], [10, loadAt(4, '10')]);
  assert.equal(drawn(decided(events, 20, debitAt(5, '11'))), ['1', '10']);
  assert.is(refusalOf(events, 20, debitAt(3, '2'))?.available, '1');
  assert.equal(
    [3, 4, 10].map((second) => balance(events, second, 10).credit_balance),
    ['1', '11', '11'],
  );
});

test('a POST_PAID wallet pays out of later loads, and owes the rest', () => {
  const events = history(
    [0, create({ wallet_type: 'POST_PAID' }, '10')],
    [6, loadCredits(id, [load('5')])],
    [20, debitAt(4, '18')],
  );
  assert.equal(drawn(events), ['10', '5']);
  assert.equal(
    [3, 4, 6, 20].map((second) => balance(events, second, 20).credit_balance),
    ['10', '-8', '-3', '-3'],
  );
});

test('a load that pays a debt of now was still whole before the debt', () => {
  const events = history(
    [0, create({ wallet_type: 'POST_PAID' })],
    [8, debit('6')],
    [20, loadAt(4, '10')],
  );
  for (const [second, credits, lots] of [
    [3, '0', []],
    [5, '10', ['10']],
    [8, '4', ['4']],
    [20, '4', ['4']],
  ] as const) {
    const then = balance(events, second, 20);
    assert.is(then.credit_balance, credits);
    assert.equal(
      then.lots.map(({ remaining }) => remaining),
      lots,
      `at ${second}`,
    );
  }
});

test('nothing counts from before the wallet', () => {
  const events = history([5, create({}, '10')]);
  for (const early of [loadAt(4, '1'), debitAt(4, '1')]) {
    assert.equal(refusalOf(events, 9, early), { reason: 'before_creation', created_at: at(5) });
  }
});

test('a bulk draws in the order of its entries, each as of its own instant', () => {
  const events = history([0, create({}, '10')], [6, loadCredits(id, [load('10')])]);
  const bulk = moveInBulk(
    id,
    [
      { type: 'credit', load: load('5', { effectiveAt: at(2) }) },
      { type: 'debit', debit: { ...debitOf('15'), effectiveAt: at(3) } },
      { type: 'debit', debit: { ...debitOf('1'), effectiveAt: at(3) } },
    ],
    false,
  );
  const [, , result] = decided(events, 20, bulk).flatMap((event) =>
    event.type === 'BulkRecorded' ? event.data.results : [],
  );
  assert.ok(result && 'code' in result, 'the last entry found nothing left of its instant');
});

const later = (instant: Instant, seconds: number) =>
  instantOf(millisecondsOf(instant) + seconds * 1000);
const days = 24 * 60 * 60;

test('over HTTP an instant lies in the last 90 days, and an order has none', async () => {
  const { id: walletId, request, world, pass, entries } = await walletWorld();
  const created = world.now;
  pass(100 * days);
  const debitBody = (effective_at: Instant) =>
    callRoute(walletRoutes['POST /wallets/{id}/debit'], request(), {
      params: { id: walletId },
      body: { credits: '1', effective_at },
    });
  const pointer = async (answer: Promise<unknown>) =>
    (await rejection(answer)).errors?.[0]?.pointer;
  assert.is(await pointer(debitBody(later(world.now, 1))), '/effective_at');
  assert.is(await pointer(debitBody(later(world.now, -90 * days - 1))), '/effective_at');
  const { wallet_transaction: row } = await debitBody(later(world.now, -90 * days));
  assert.equal(
    [row.effective_at, row.recorded_at, row.completed_at],
    [later(world.now, -90 * days), world.now, world.now],
  );
  assert.equal((await entries({ end_time: later(created, 11 * days) })).length, 2);
  const order = callRoute(walletRoutes['POST /wallets/{id}/top-up'], request(), {
    params: { id: walletId },
    body: {
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      credits_to_add: '1',
      effective_at: world.now,
    },
  });
  assert.is(await pointer(order), '/effective_at');
});

test('the explanation of a debit that is dated back lists the lots of its instant', async () => {
  const { id: walletId, request, world, pass, topUp } = await walletWorld();
  pass(10);
  const instant = world.now;
  pass(10);
  await topUp({ transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '7', priority: 1 });
  const { wallet_transaction: row } = await callRoute(
    walletRoutes['POST /wallets/{id}/debit'],
    request(),
    { params: { id: walletId }, body: { credits: '3', effective_at: instant } },
  );
  const explanation = await callRoute(
    auditRoutes['GET /wallets/{id}/transactions/{transaction_id}/explanation'],
    request(),
    { params: { id: walletId, transaction_id: row.id } },
  );
  assert.equal(
    explanation.lots.map(({ credits_before, credits_drawn }) => [credits_before, credits_drawn]),
    [['100', '3']],
  );
});

test('credits that a reversal renewed stay, also when a hold took them beside older ones of their lot', () => {
  const steps = [
    [0, create({}, load('2', { expiresAt: at(10) }))],
    [1, holdCredits(id, holdOf('a', '1'))],
    [2, debit('0.5')],
  ] as const;
  // The lot is over by then; what comes back has another month, and the hold takes all of it.
  const raised = changeHold(id, 'hold_a', { credits: text('1.5'), expiresAt: null });
  const back = reversed(history(...steps), 11);
  const events = history(...steps, back, [12, raised], [13, voidHold(id, 'hold_a')]);
  const [lot] = stateAfter(events)?.lots ?? [];
  assert.equal([lot?.remaining, (lot?.expires_at ?? '') > at(13)], ['1.5', true]);
});

test.run();
