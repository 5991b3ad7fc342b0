/** Events for the tests of the log; nothing else uses them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Instant } from '@counterfoil/kernel';
import { chained, emptyChain } from './hash-chain.ts';
import {
  AppendError,
  type AppendFailure,
  type EventStore,
  type LogItem,
  type NewEvent,
  type Position,
  type StoredEvent,
  StoreUnavailable,
} from './types.ts';

/** An event that any stream takes, with these members of its data. */
export function sampleEvent(data: Record<string, unknown> = {}, type = 'CreditsGranted'): NewEvent {
  const metadata = {
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    actor: { user_id: null, key_id: null },
    occurred_at: '2026-01-01T00:00:00.000Z' as Instant,
    schema_version: 1,
    $correlationId: 'req_01',
    $causationId: 'req_01',
  };
  return chained('wallet-env_01.sample', emptyChain, { id: randomUUID(), type, data, metadata })
    .event;
}

/** Name of a stream that no other test uses. */
export const freshStream = (category = 'wallet'): string =>
  `${category}-env_01.${randomUUID().replaceAll('-', '')}`;

/** All items of an iterable. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The error that a promise rejects with; throws when it does not. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with ${String(error)}`);
  }
  throw new Error('was expected to fail');
}

/** Appends a number of events to an empty stream, one append each, and returns their positions. */
export async function fill(store: EventStore, stream: string, count: number): Promise<Position[]> {
  const positions: Position[] = [];
  for (let index = 0; index < count; index += 1) {
    const { position } = await store.append(stream, [sampleEvent({ n: index })], index - 1);
    positions.push(position);
  }
  return positions;
}

/**
 * Appends an event as soon as the store can. Where the outcome is unknown, the end of the stream tells, as it tells the
 * writers of streams. Returns the revision of the event.
 */
export async function appendAtLast(
  store: EventStore,
  stream: string,
  event: NewEvent,
  expectedRevision: number,
): Promise<number> {
  for (;;) {
    try {
      return (await store.append(stream, [event], expectedRevision)).revision;
    } catch (error) {
      if (!(error instanceof AppendError)) throw error;
      const last = await lastOf(store, stream);
      if (last?.id === event.id) return last.revision;
      if (!['unknown_outcome', 'unavailable'].includes(error.failure)) throw error;
    }
  }
}

/** The last event of a stream, as soon as the store tells it; null in an empty stream. */
export async function lastOf(store: EventStore, stream: string): Promise<StoredEvent | null> {
  for (;;) {
    try {
      return await store.readLast(stream);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await pause(10);
    }
  }
}

/** Follows streams with a prefix and gives the items up to the first batch that has the last. */
export async function followUntil(
  store: EventStore,
  prefix: string,
  isLast: (item: LogItem) => boolean,
  after: Position = 0n,
): Promise<LogItem[]> {
  const controller = new AbortController();
  const items: LogItem[] = [];
  const request = { prefixes: [prefix], after: () => after, signal: controller.signal };
  for await (const batch of store.follow(request, 100)) {
    items.push(...batch);
    if (batch.some(isLast)) controller.abort();
  }
  return items;
}

export { eventsOf } from './follow.ts';

/** The failure of an append; throws when it did not fail, or failed with another kind of error. */
export async function failureOf(promise: Promise<unknown>): Promise<AppendFailure> {
  const error = await errorOf(promise);
  if (error instanceof AppendError) return error.failure;
  throw error;
}
