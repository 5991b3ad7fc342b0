import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertProven, type Evidence } from '../audit.ts';
import type { Exchange } from '../exchange.ts';
import { type Data, type History, type HistoryEvent, walletTypes } from '../history.ts';
import { linearise } from '../linearise.ts';
import { replayed } from '../replay.ts';
import { fullEvidence } from '../test-scenario.ts';
import { checkTampering } from './chain-checks.ts';
import type { Fault, Invariant } from './fault.ts';
import { checkLots, checkNoNegative } from './lot-checks.ts';
import { checkBalanceChain, checkConservation } from './money-checks.ts';
import { checkDurability, checkKeys, type Published } from './request-checks.ts';
import { checkStates } from './state-checks.ts';
import { checkReads } from './view-checks.ts';
import { checkDeterminism, checkIsolation } from './world-checks.ts';

const test = suite('checkers of I1 to I11');

let good: Evidence;
let owing: Evidence;
test.before(async () => {
  good = await fullEvidence();
  owing = await fullEvidence('POST_PAID');
});

/** Place of the nth event of a type. */
function placeOf(history: History, type: string, nth = 0): number {
  const found = history.filter((event) => event.type === type)[nth];
  assert.ok(found, `the story has no ${type} ${nth}`);
  return found.revision;
}

/** The ledger with the data of one event changed; nothing else is adapted. */
const withData = (history: History, revision: number, change: (data: Data) => Data): History =>
  history.map((event) =>
    event.revision === revision
      ? { ...event, data: { ...event.data, ...change(event.data) } }
      : event,
  );

const changedFirst = (type: string, change: (data: Data) => Data, nth = 0): [History, number] => {
  const revision = placeOf(good.history, type, nth);
  return [withData(good.history, revision, change), revision];
};

/** The ledger with an event put in at a place; the others move on. */
const withEvent = (history: History, at: number, event: HistoryEvent): History =>
  history
    .toSpliced(at, 0, event)
    .map((each, revision) => ({ ...each, revision }) satisfies HistoryEvent);

const eventAt = (history: History, revision: number): HistoryEvent => {
  const event = history[revision];
  assert.ok(event);
  return event as HistoryEvent;
};

const asRecord = (value: unknown): Data => value as Data;

function assertFault(fault: Fault | null, invariant: Invariant, revision: number | null): void {
  assert.ok(fault, `${invariant} was not found broken`);
  assert.is(fault?.invariant, invariant);
  assert.is(fault?.revision, revision, fault?.message);
}

test('the stories break nothing, and everything happens in them', async () => {
  await assertProven(good);
  await assertProven(owing);
  const types = new Set(good.history.map(({ type }) => type));
  const kept = ['RequestRefused', 'RequestWithoutEffect'];
  for (const type of [...walletTypes, ...kept]) assert.ok(types.has(type), type);
});

test('I1: an amount that is not credits times rate, and another rate', () => {
  const wrong = { amount: '12.3' };
  for (const type of ['CreditsLoaded', 'CreditsDebited', 'CreditsExpired', 'HoldCaptured']) {
    const [history, revision] = changedFirst(type, () => wrong);
    assertFault(checkConservation(history), 'I1', revision);
  }
  const [history, revision] = changedFirst('CreditsDebited', () => ({ conversion_rate: '0.6' }));
  assertFault(checkConservation(history), 'I1', revision);
});

test('I1: credits for an amount that are rounded half up', () => {
  // 100 ÷ 3 is 33.333333333 and a third; the neighbour above is wrong.
  const isBought = ({ amount }: Data) => amount === '100';
  const bought = good.history.find(({ data }) => isBought(data));
  const history = withData(good.history, bought?.revision ?? -1, () => ({
    credits: '33.333333334',
  }));
  assertFault(checkConservation(history), 'I1', bought?.revision ?? -1);
});

test('I2: a balance that does not follow, a gap, a step back in time', () => {
  const [history, revision] = changedFirst('CreditsDebited', () => ({ credit_balance_after: '1' }));
  assertFault(checkBalanceChain(history), 'I2', revision);
  const [other, place] = changedFirst('CreditsDebited', () => ({ credit_balance_before: '1' }));
  assertFault(checkBalanceChain(other), 'I2', place);
  const [numbered, at] = changedFirst('CreditsDebited', () => ({ sequence: 77 }));
  assertFault(checkBalanceChain(numbered), 'I2', at);
  assertFault(checkBalanceChain(good.history.toSpliced(3, 1)), 'I2', 4);
  const early = good.history.map((event) =>
    event.revision === 5
      ? { ...event, metadata: { ...event.metadata, occurred_at: '2020-01-01T00:00:00.000Z' } }
      : event,
  );
  assertFault(checkBalanceChain(early), 'I2', 5);
});

test('I3: another order of draws, a wrong rest, credits that vanish from a lot', () => {
  const several = good.history.find(({ data, type }) => {
    return type === 'CreditsDebited' && data.drawn.length > 1;
  });
  assert.ok(several);
  const swapped = withData(good.history, several?.revision ?? -1, ({ drawn }) => ({
    drawn: [drawn[1], drawn[0], ...drawn.slice(2)],
  }));
  assertFault(checkLots(swapped), 'I3', several?.revision ?? -1);
  for (const type of ['CreditsDebited', 'CreditsHeld']) {
    const [history, revision] = changedFirst(type, ({ drawn }) => ({
      drawn: drawn.with(-1, { ...drawn.at(-1), remaining: '1.5' }),
    }));
    assertFault(checkLots(history), 'I3', revision);
  }
  const [less, place] = changedFirst('CreditsLoaded', () => ({ credits_available: '99' }));
  assertFault(checkLots(less), 'I3', place);
  const [kept, end] = changedFirst('HoldReleased', () => ({ returned: [] }));
  assertFault(checkLots(kept), 'I3', end);
});

test('I3: credits of a lot that has expired', () => {
  const debit = placeOf(good.history, 'CreditsDebited');
  const [draw] = asRecord(good.history[debit]).data.drawn;
  const load = good.history.find(({ data }) => data.transaction_id === draw.transaction_id);
  const at = asRecord(good.history[debit]).metadata.occurred_at;
  const history = withData(good.history, load?.revision ?? -1, () => ({ expires_at: at }));
  assertFault(checkLots(history), 'I3', debit);
});

test('I4: a negative balance, a hold that ends twice, more captured than held', () => {
  const debt = withData(owing.history, 0, () => ({ wallet_type: 'PRE_PAID' }));
  const first = owing.history.find(({ data }) => data.credit_balance_after?.startsWith('-'));
  assert.ok(first, 'the wallet owes nothing');
  assertFault(checkNoNegative(debt), 'I4', first?.revision ?? -1);
  // The first capture leaves its hold open.
  for (const [type, nth] of [
    ['HoldReleased', 0],
    ['HoldCaptured', 1],
  ] as const) {
    const place = placeOf(good.history, type, nth);
    const twice = withEvent(good.history, place + 1, eventAt(good.history, place));
    assertFault(checkNoNegative(twice), 'I4', place + 1);
  }
  const [more, at] = changedFirst('HoldCaptured', () => ({ credits: '31' }), 1);
  assertFault(checkNoNegative(more), 'I4', at);
});

/** The requests with one of them answered in another way. */
const answered = (
  kind: string,
  isReplay: boolean,
  change: (body: Data) => object,
  status?: number,
) =>
  good.exchanges.map((exchange): Exchange => {
    const { answer, command } = exchange;
    if (!answer || command.kind !== kind || answer.isReplay !== isReplay) return exchange;
    const body = { ...answer.body, ...change(answer.body) };
    return { ...exchange, answer: { ...answer, body, status: status ?? answer.status } };
  });

test('I5: a key with two effects, a repetition with another answer, a conflict that passes', () => {
  const marked = good.history.filter(({ metadata }) => metadata.request);
  const [first, second] = marked;
  const history = good.history.map((event) =>
    event === second
      ? { ...event, metadata: { ...event.metadata, request: first?.metadata.request } }
      : event,
  ) as History;
  assertFault(checkKeys({ ...good, history }), 'I5', second?.revision ?? -1);
  const other = answered('terminate', true, () => ({ credit_balance: '1' }));
  assertFault(checkKeys({ ...good, exchanges: other }), 'I5', null);
  const passed = good.exchanges.map((exchange) =>
    exchange.answer?.status === 409
      ? { ...exchange, answer: { ...exchange.answer, status: 200 } }
      : exchange,
  );
  assertFault(checkKeys({ ...good, exchanges: passed }), 'I5', null);
  const unnamed = good.exchanges.map((exchange) =>
    exchange.answer?.status === 409
      ? {
          ...exchange,
          answer: { ...exchange.answer, body: { ...exchange.answer.body, details: {} } },
        }
      : exchange,
  );
  assertFault(checkKeys({ ...good, exchanges: unnamed }), 'I5', null);
});

/** Returns the messages that the public stream would have of the scenario. */
const published = (): Published[] =>
  good.history.flatMap(({ revision, data }) =>
    data.transaction_id === undefined
      ? []
      : [
          {
            type: 'wallet.transaction.created',
            revision,
            text: JSON.stringify({ transaction: { id: data.transaction_id } }),
          },
        ],
  );

test('I6: an acknowledged entry that is not there; a message that is lost, doubled, or too early', () => {
  const all = published();
  assert.is(checkDurability({ ...good, published: all }), null);
  const lost = good.history.filter(({ type }) => type !== 'CreditsDebited');
  assertFault(checkDurability({ ...good, history: lost }), 'I6', null);
  const [first, second] = all;
  assert.ok(first && second);
  for (const wrong of [
    all.slice(1),
    [first, ...all],
    [second, first, ...all.slice(2)],
    [...all, { type: 'wallet.updated', revision: 9_999, text: '{}' }],
  ] as Published[][]) {
    assertFault(checkDurability({ ...good, published: wrong }), 'I6', null);
  }
});

test('I7: a read model that shows anything else than the log', () => {
  const { reads } = good;
  const wrongWallets = [
    { credit_balance: '1' },
    { balance: '1' },
    { credits_held: '1' },
    { alert_state: 'info' },
    { wallet_status: 'active' },
    { credits_available_breakdown: { free: '1', purchased: '0' } },
  ];
  for (const wrong of wrongWallets) {
    const wallet = { ...reads.wallet, ...wrong };
    assertFault(checkReads({ ...good, reads: { ...reads, wallet } }), 'I7', null);
  }
  const first = good.history.find(({ data }) => data.transaction_id)?.revision ?? -1;
  for (const wrong of [
    { credits_available: '1' },
    { credit_balance_after: '1' },
    { amount: '1' },
  ]) {
    const entries = reads.entries.map((entry) => ({ ...entry, ...wrong }));
    assertFault(checkReads({ ...good, reads: { ...reads, entries } }), 'I7', first);
  }
  const missing = { ...reads, entries: reads.entries.slice(1) };
  assertFault(checkReads({ ...good, reads: missing }), 'I7', null);
  const holds = reads.holds.map((hold) => ({ ...hold, hold_status: 'open' }));
  assertFault(checkReads({ ...good, reads: { ...reads, holds } }), 'I7', null);
  const balance = { ...reads.balance, lots: [{ transaction_id: 'wtxn_1', credits: '1' }] };
  assertFault(checkReads({ ...good, reads: { ...reads, balance } }), 'I7', null);
});

test('I8: an event that is changed, removed, put in or moved', () => {
  const [history, revision] = changedFirst('CreditsDebited', () => ({ description: 'x' }));
  assertFault(checkTampering(history), 'I8', revision);
  assertFault(checkTampering(good.history.toSpliced(3, 1)), 'I8', 4);
  const inserted = withEvent(good.history, 4, eventAt(good.history, 3));
  assertFault(checkTampering(inserted), 'I8', 4);
  const moved = good.history.with(3, eventAt(good.history, 4)).with(4, eventAt(good.history, 3));
  assertFault(
    checkTampering(moved.map((event, place) => ({ ...event, revision: place }))),
    'I8',
    3,
  );
  const actor = good.history.map((event) =>
    event.revision === 2 ? { ...event, metadata: { ...event.metadata, actor: null } } : event,
  );
  assertFault(checkTampering(actor), 'I8', 2);
});

test('I9: debits of a frozen wallet, anything of a closed one', () => {
  const frozen = placeOf(good.history, 'WalletFrozen');
  const debit = eventAt(good.history, placeOf(good.history, 'CreditsDebited'));
  assertFault(checkStates(withEvent(good.history, frozen + 1, debit)), 'I9', frozen + 1);
  const load = eventAt(good.history, placeOf(good.history, 'CreditsLoaded'));
  const closed = placeOf(good.history, 'WalletClosed');
  assertFault(checkStates(withEvent(good.history, closed + 1, load)), 'I9', closed + 1);
  const twice = withEvent(good.history, frozen + 1, eventAt(good.history, frozen));
  assertFault(checkStates(twice), 'I9', frozen + 1);
});

test('I9: an alert that is doubled, missing, or about another balance', () => {
  const place = placeOf(good.history, 'AlertStateChanged');
  const alert = eventAt(good.history, place);
  assertFault(checkStates(withEvent(good.history, place + 1, alert)), 'I9', place + 1);
  const silent = good.history.toSpliced(place, 1);
  assert.is(checkStates(silent)?.invariant, 'I9');
  const [history, revision] = changedFirst('AlertStateChanged', () => ({ available: '1' }));
  assertFault(checkStates(history), 'I9', revision);
  const [level, at] = changedFirst('AlertStateChanged', () => ({ after: 'info' }));
  assert.is(checkStates(level)?.invariant, 'I9');
  assert.ok(at > 0);
});

test('I9: a top-up that the wallet had no need of, or that answers a fall twice', () => {
  const isAutomatic = ({ data, type }: HistoryEvent) => data.automatic && type === 'TopUpRequested';
  const ordered = good.history.find(isAutomatic);
  assert.ok(ordered);
  const place = ordered?.revision ?? -1;
  const settings = placeOf(good.history, 'WalletSettingsChanged', 1);
  const high = withData(good.history, settings, ({ auto_topup }) => ({
    auto_topup: { ...auto_topup, threshold: '0' },
  }));
  assertFault(checkStates(high), 'I9', place);
  const twice = { ...eventAt(good.history, place) };
  const other = { ...twice, data: { ...twice.data, transaction_id: 'wtxn_1' } };
  assertFault(checkStates(withEvent(good.history, place + 1, other)), 'I9', place + 1);
});

test('I9: an event that nobody knows', () => {
  const unknown = { ...eventAt(good.history, 3), type: 'CreditsConjured' };
  assertFault(checkStates(withEvent(good.history, 3, unknown)), 'I9', 3);
});

test('I10: an event of another tenant, environment or stream; a stranger who is answered', () => {
  for (const wrong of [{ tenant_id: 'tenant_02' }, { environment_id: 'env_02' }]) {
    const history = good.history.map((event) =>
      event.revision === 4 ? { ...event, metadata: { ...event.metadata, ...wrong } } : event,
    );
    assertFault(checkIsolation({ ...good, history }), 'I10', 4);
  }
  const moved = good.history.map((event) => ({ ...event, stream: 'wallet-env_02.wallet_1' }));
  assertFault(checkIsolation({ ...good, history: moved }), 'I10', 0);
  const strangers = [{ status: 200, body: {}, isReplay: false }];
  assertFault(checkIsolation({ ...good, strangers }), 'I10', null);
});

test('I11: a decision that comes out differently', async () => {
  const again = await replayed(good.history, good.exchanges);
  assert.is(checkDeterminism({ ...good, again }), null);
  const place = placeOf(good.history, 'CreditsDebited');
  const other = withData(again, place, () => ({ credits: '49' }));
  assertFault(checkDeterminism({ ...good, again: other }), 'I11', place);
  assertFault(checkDeterminism({ ...good, again: [...again, eventAt(again, 0)] }), 'I11', null);
});

const assertUnexplained = (
  history: History,
  exchanges: readonly Exchange[],
  message: RegExp,
): void => {
  try {
    linearise(history, exchanges);
  } catch (error) {
    assert.match(error instanceof Error ? error.message : `${error}`, message);
    return;
  }
  assert.unreachable('the oracle explains what cannot be');
};

test('the oracle explains no other figure, no other answer, no other refusal, no unknown event', () => {
  for (const type of ['CreditsLoaded', 'CreditsDebited', 'CreditsHeld', 'HoldCaptured']) {
    const [history, revision] = changedFirst(type, () => ({ credits: '1.23' }));
    assertUnexplained(history, good.exchanges, new RegExp(`^revision ${revision}|^revision \\d+:`));
  }
  const wallet = { ...asRecord(good.reads.wallet), credit_balance: '4' };
  const wrong = answered('top-up', false, () => ({ wallet }));
  assertUnexplained(good.history, wrong, /was answered/);
  const refused = answered('bad', false, () => ({}), 200);
  assertUnexplained(good.history, refused, /no state explains/);
  const late = good.exchanges.map((exchange) =>
    exchange.answer?.body.details?.wallet_status === 'closed'
      ? {
          ...exchange,
          answer: { ...exchange.answer, body: { ...exchange.answer.body, details: null } },
        }
      : exchange,
  );
  assertUnexplained(good.history, late, /no state explains/);
  const unknown = good.history.map((event) =>
    event.revision === 6 ? { ...event, type: 'CreditsConjured' } : event,
  );
  assertUnexplained(unknown, good.exchanges, /does not know/);
});

test.run();
