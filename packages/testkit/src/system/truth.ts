import * as assert from 'uvu/assert';
import type { Caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import type { Sink } from '../sink.ts';
import type { Acknowledged, Entry } from './movements.ts';
import { readPublicStream, type StreamMessage } from './public-stream.ts';

/** A test's knowledge about its wallets, from the answers it was given. */
export interface Known {
  readonly caller: Caller;
  readonly natsUrl: string;
  /** Gets all events of the wallets' environment. */
  readonly sink: Sink;
  readonly walletIds: readonly string[];
  /** Every movement there was, but for the initial load of each wallet. */
  readonly acknowledged: readonly Acknowledged[];
}

const pageSize = 1_000;

/**
 * Asserts that every acknowledged request is in the ledger once and nothing else is, that the
 * public stream holds each entry once and in order, and that the webhook got each at least once.
 * Waits until read models and deliveries have caught up. Shares no code with what it checks.
 */
export async function assertNothingIsLost(known: Known): Promise<void> {
  const { acknowledged, walletIds, caller } = known;
  const ledgers = await assertLedgers(caller, walletIds, acknowledged);
  await assertDelivered(known, ledgers);
  // The stream may grow meanwhile, but it has what was delivered before it is read.
  const delivered = [...known.sink.deliveries];
  const messages = await readPublicStream(known.natsUrl);
  assertInOrder(messages);
  assertPublishedOnce(messages, ledgers);
  assertSameBytes(messages, delivered);
}

/**
 * Asserts that every acknowledged movement is in the ledgers once and nothing else is, and that each entry begins
 * where the one before it ended. Gives the ledgers.
 */
export async function assertLedgers(
  caller: Caller,
  walletIds: readonly string[],
  acknowledged: readonly Acknowledged[],
): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const newest = acknowledged.reduce((last, { position }) => max(last, position), 0n);
  const ledgers = new Map<string, readonly Entry[]>();
  for (const id of walletIds) {
    const entries = await readLedger(caller, id, newest);
    const wallet = await caller.ok('GET', `/wallets/${id}`, undefined, atLeast(newest));
    assertUnbroken(id, entries, wallet.credit_balance);
    assertComplete(
      id,
      entries,
      acknowledged.filter(({ walletId }) => walletId === id),
    );
    ledgers.set(id, entries);
  }
  return ledgers;
}

const max = (left: bigint, right: bigint): bigint => (left > right ? left : right);

const atLeast = (position: bigint) => ({ 'counterfoil-min-position': String(position) });

/** All entries of a wallet, oldest first, as they are at a position or later. */
export async function readLedger(
  caller: Caller,
  walletId: string,
  position: bigint,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const path = `/wallets/${walletId}/transactions?order=asc&limit=${pageSize}&offset=${entries.length}`;
    const page = await untilRead(caller, path, position);
    entries.push(...page.items);
    if (page.items.length === 0 || entries.length >= page.pagination.total) return entries;
  }
}

/** A read that insists on a position is refused until the read model is there. */
const untilRead = (caller: Caller, path: string, position: bigint) => {
  let last = '';
  return eventually(
    async () => {
      const answer = await caller.call('GET', path, undefined, atLeast(position));
      last = `${answer.status} ${answer.text}`;
      return answer.status === 200 && answer.body;
    },
    () => `${path} at ${position}: ${last}`,
  );
};

/** Each entry begins where the one before it ended, and the wallet shows the last one's end. */
function assertUnbroken(walletId: string, entries: readonly Entry[], balance: string): void {
  let running = 0n;
  for (const entry of entries) {
    const place = `${walletId} ${entry.id}`;
    assert.is(BigInt(entry.credit_balance_before), running, `${place}: before`);
    const credits = BigInt(entry.credit_amount);
    running += entry.type === 'credit' ? credits : -credits;
    assert.is(BigInt(entry.credit_balance_after), running, `${place}: after`);
  }
  assert.is(BigInt(balance), running, `${walletId}: balance`);
}

function assertComplete(
  walletId: string,
  entries: readonly Entry[],
  acknowledged: readonly Acknowledged[],
): void {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  assert.is(byId.size, entries.length, `${walletId}: no entry twice`);
  const keys = entries.flatMap(({ idempotency_key: key }) => key ?? []);
  assert.is(new Set(keys).size, keys.length, `${walletId}: no request had its effect twice`);
  for (const { key, kind, credits, entry } of acknowledged) {
    const found = byId.get(entry.id);
    assert.ok(found, `${walletId}: ${key} was acknowledged as ${entry.id} and is not there`);
    assert.equal(lasting(found), lasting(entry), key);
    assert.is(found.type, kind === 'debit' ? 'debit' : 'credit', key);
    assert.is(found.credit_amount, credits, key);
  }
  assert.is(entries.length, acknowledged.length + 1, `${walletId}: nothing that nobody asked for`);
}

const lasting = (entry: Entry): Omit<Entry, 'type'> => ({
  id: entry.id,
  credit_amount: entry.credit_amount,
  credit_balance_before: entry.credit_balance_before,
  credit_balance_after: entry.credit_balance_after,
  idempotency_key: entry.idempotency_key ?? '',
});

async function assertDelivered(
  { sink }: Known,
  ledgers: ReadonlyMap<string, readonly Entry[]>,
): Promise<void> {
  const expected = [...ledgers.values()].flat().map(({ id }) => id);
  const arrived = new Set<string>();
  let seen = 0;
  await eventually(
    () => {
      for (const { body } of sink.deliveries.slice(seen)) arrived.add(transactionIdOf(body));
      seen = sink.deliveries.length;
      return expected.every((id) => arrived.has(id));
    },
    () => `no webhook for ${expected.filter((id) => !arrived.has(id))} in ${seen} deliveries`,
  );
}

const transactionIdOf = (text: string): string => JSON.parse(text).transaction?.id ?? '';

/** Sequences without a gap, and places in the log that only rise: nothing is there twice. */
function assertInOrder(messages: readonly StreamMessage[]): void {
  let last = { position: -1n, index: -1 };
  for (const [place, message] of messages.entries()) {
    const { sequence, position, index } = message;
    assert.is(sequence, place + 1, 'no message is missing from the stream');
    const isLater =
      position > last.position || (position === last.position && index === last.index + 1);
    assert.ok(isLater, `message ${sequence}: ${position}/${index} after ${last.position}`);
    last = { position, index };
  }
  assert.is(new Set(messages.map(({ id }) => id)).size, messages.length, 'no message id twice');
}

function assertPublishedOnce(
  messages: readonly StreamMessage[],
  ledgers: ReadonlyMap<string, readonly Entry[]>,
): void {
  const ofTransactions = messages.filter(({ type }) => type === 'wallet.transaction.created');
  for (const [walletId, entries] of ledgers) {
    const published = ofTransactions.filter(({ stream }) => stream.endsWith(`.${walletId}`));
    const revisions = published.map(({ revision }) => revision);
    assert.equal(
      revisions,
      revisions.toSorted((left, right) => left - right),
      `${walletId}: published in the order of its revisions`,
    );
    assert.is(new Set(revisions).size, revisions.length, `${walletId}: no revision twice`);
    assert.equal(
      published.map(({ text }) => lasting(JSON.parse(text).transaction)),
      entries.map(lasting),
      `${walletId}: the stream tells what the ledger says`,
    );
  }
}

/**
 * Asserts that every delivery under an id, repetitions too, has the content that the stream holds
 * under it.
 */
function assertSameBytes(messages: readonly StreamMessage[], deliveries: Sink['deliveries']): void {
  const textOf = new Map(messages.map(({ id, text }) => [id, text]));
  for (const { headers, body } of deliveries) {
    assert.is(body, textOf.get(String(headers['webhook-id'])), String(headers['webhook-id']));
  }
}
