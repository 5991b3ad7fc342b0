import { setMaxListeners } from 'node:events';
import { invariant } from '@counterfoil/kernel';
import { within } from '../operations/health.ts';
import { outgoingAppends } from './annex.ts';
import { clientLimits, createAppendGate } from './append-gate.ts';
import { type Appender, createAppender } from './appender.ts';
import { readError, unsentAppendError } from './client-errors.ts';
import { createReader } from './log-reader.ts';
import type { OutgoingAppend } from './outgoing-append.ts';
import { createShares } from './shares.ts';
import { appendClient, closeClient, connect, dateOf, readClient } from './store-client.ts';
import { AppendError, type Appended, type EventStore, StoreUnavailable } from './types.ts';

export interface EventStoreOptions {
  /** Such as `esdb://127.0.0.1:2113?tls=false`. Keep-alive is 10 s / 10 s unless it says so. */
  readonly url: string;
  /** Milliseconds within which an append has succeeded or thrown. */
  readonly appendTimeoutMs?: number;
  /** A read fails when the store sends nothing for this many milliseconds while we wait for it. */
  readonly readTimeoutMs?: number;
}

/** All appends of a process to one server share one call, and one gate bounds those under way. */
const gate = createAppendGate(clientLimits);
const shareAppender = createShares(
  (url) => createAppender({ connect: () => appendClient(connect(url)), gate }),
  (appender) => appender.close(),
);

/**
 * Opens an event store. It connects at the first use and again whenever the connection is lost.
 * Throws when the connection string makes no sense.
 */
export function openEventStore(options: EventStoreOptions): EventStore {
  const { url, appendTimeoutMs = 10_000, readTimeoutMs = 10_000 } = options;
  const client = connect(url);
  const appender = shareAppender(url);
  const closing = new AbortController();
  // Every read under way listens to it; their number is bounded elsewhere.
  setMaxListeners(0, closing.signal);
  const reader = createReader({
    client: readClient(client),
    timeoutMs: readTimeoutMs,
    closing: closing.signal,
  });
  const underWay = new Set<Promise<Appended>>();
  return {
    ...reader,
    ping: async () => {
      await reader.head();
    },
    time: () => {
      const asked = within(readTimeoutMs, dateOf(client));
      return asked.catch((error) => Promise.reject(readError('question for the time', error)));
    },
    append: async (stream, events, expectedRevision) => {
      if (closing.signal.aborted) throw unsentAppendError(stream, 'the event store is closed');
      const appends = outgoingAppends(stream, events, expectedRevision);
      const outcome = appendInOrder(appender.value, appends, appendTimeoutMs);
      underWay.add(outcome);
      try {
        return await outcome;
      } finally {
        underWay.delete(outcome);
      }
    },
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort(new StoreUnavailable('the event store is closed'));
      await Promise.allSettled(underWay);
      await Promise.all([appender.release(), closeClient(client)]);
    },
  };
}

/** Sends appends one after the other; the outcome of the last is the outcome of all. */
async function appendInOrder(
  appender: Appender,
  appends: readonly OutgoingAppend[],
  milliseconds: number,
): Promise<Appended> {
  const [last, ...annexes] = appends.toReversed();
  invariant(last, 'an append of nothing');
  const end = performance.now() + milliseconds;
  const remaining = (): number => Math.max(1, end - performance.now());
  for (const annex of annexes.reverse()) {
    try {
      await appender.append(annex, remaining());
    } catch (error) {
      // Whatever became of the annex: nothing names it.
      const isOpen = error instanceof AppendError && error.failure === 'unknown_outcome';
      throw isOpen ? unsentAppendError(last.stream, 'its annex was not confirmed', error) : error;
    }
  }
  return await appender.append(last, remaining());
}
