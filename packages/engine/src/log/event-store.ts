/**
 * The event store behind its official client, `@eventstore/db-client` 6.2.1. No other file of the
 * engine but its tests may import the client: it hangs, leaks and ends the process in ways that
 * are dealt with here and in the helpers beside, and a switch to its successor must stay a matter
 * of this file. It needs a server from 23.10 on, which says when a subscription has caught up.
 */
import { setMaxListeners } from 'node:events';
import {
  type AllStreamSubscription,
  BACKWARDS,
  END,
  EventStoreDBClient,
  NO_STREAM,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { clientLimits, createAppendGate } from './append-gate.ts';
import { type AppendClient, createAppender } from './appender.ts';
import type { OpenCall } from './call-batches.ts';
import { unsentAppendError } from './client-errors.ts';
import { createReader, type Mark, type ReadClient } from './log-reader.ts';
import { outgoingAppend } from './outgoing-append.ts';
import { createShares } from './shares.ts';
import type { StoreMetric } from './store-metric.ts';
import {
  AppendError,
  type Appended,
  type AppendFailure,
  type EventStore,
  type NewEvent,
  type Position,
  StoreUnavailable,
} from './types.ts';

export type { StoreMetric };

export interface EventStoreOptions {
  /** Such as `esdb://127.0.0.1:2113?tls=false`. Keep-alive is 10 s / 10 s unless it says so. */
  readonly url: string;
  /** Within so many milliseconds an append has succeeded or thrown. */
  readonly appendTimeoutMs?: number;
  /** A read fails when the store sends nothing for so many milliseconds while it is waited for. */
  readonly readTimeoutMs?: number;
  readonly onMetric?: (metric: StoreMetric) => void;
}

/** How long giving up a connection may take before it is left to itself. */
const closeMilliseconds = 1_000;

/** Another node than the leader may not have seen what we have just written. */
const requiresLeader = true;

/**
 * All appends of a process to one server share one client, and all clients one gate. Clients keep
 * the appends they wait for in one table of their module: the end of one client's stream of
 * appends drops the entries of all others, whose answers then throw where nobody can catch it.
 */
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
  const { url, appendTimeoutMs = 10_000, readTimeoutMs = 10_000, onMetric = () => {} } = options;
  const client = connect(url);
  const appender = shareAppender(url);
  const closing = new AbortController();
  // Every read under way listens to it, and their number is bounded elsewhere.
  setMaxListeners(0, closing.signal);
  const reader = createReader({
    client: readClient(client),
    timeoutMs: readTimeoutMs,
    closing: closing.signal,
    onMetric,
  });
  const underWay = new Set<Promise<Appended>>();
  const append = async (
    stream: string,
    events: readonly NewEvent[],
    expectedRevision: number,
  ): Promise<Appended> => {
    if (closing.signal.aborted) throw unsentAppendError(stream, 'the event store is closed');
    const outgoing = outgoingAppend(stream, events, expectedRevision);
    const outcome = appender.value.append(outgoing, appendTimeoutMs);
    underWay.add(outcome);
    try {
      return await outcome;
    } finally {
      underWay.delete(outcome);
    }
  };
  return {
    ...reader,
    ping: async () => {
      await reader.head();
    },
    append: (stream, events, expectedRevision) =>
      measured(onMetric, events.length, append(stream, events, expectedRevision)),
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort(new StoreUnavailable('the event store is closed'));
      await Promise.allSettled(underWay);
      await Promise.all([appender.release(), closeClient(client)]);
    },
  };
}

/** Reports how an append ended. A report that fails must not turn a success into a failure. */
async function measured(
  onMetric: (metric: StoreMetric) => void,
  events: number,
  outcome: Promise<Appended>,
): Promise<Appended> {
  const started = performance.now();
  const report = (result: 'appended' | AppendFailure): void => {
    const milliseconds = performance.now() - started;
    try {
      onMetric({ kind: 'append', outcome: result, events, milliseconds });
    } catch {
      // Whoever counts has to look after himself.
    }
  };
  outcome.then(
    () => report('appended'),
    (error) => report(error instanceof AppendError ? error.failure : 'fatal'),
  );
  return await outcome;
}

/**
 * A client for a connection string; of two settings with one name it takes the later one. Keep
 * alive is ours unless the string has another one. A conflict must always throw: the client
 * reports a wrong revision otherwise.
 */
function connect(url: string): EventStoreDBClient {
  const [address, settings = ''] = url.split('?', 2);
  const all = ['keepAliveInterval=10000', 'keepAliveTimeout=10000', settings];
  const query = [...all, 'throwOnAppendFailure=true'].filter(Boolean).join('&');
  return EventStoreDBClient.connectionString(`${address}?${query}`);
}

const appendClient = (client: EventStoreDBClient): AppendClient => ({
  ready: () => capabilitiesOf(client),
  append: async ({ stream, events, expectedRevision }, milliseconds) => {
    const { nextExpectedRevision, position } = await client.appendToStream(stream, [...events], {
      expectedRevision: expectedRevision < 0 ? NO_STREAM : BigInt(expectedRevision),
      deadline: milliseconds,
      requiresLeader,
    });
    if (!position) throw new Error('the server gave no position');
    return { revision: Number(nextExpectedRevision), position: position.commit };
  },
  cut: () => soon(client.dispose()),
  close: () => closeClient(client),
});

const readClient = (client: EventStoreDBClient): ReadClient => ({
  readStream: (stream, from, maxCount) => {
    const direction =
      from === 'last'
        ? ({ direction: BACKWARDS, fromRevision: END } as const)
        : ({ fromRevision: BigInt(from) } as const);
    const readable = client.readStream(stream, { ...direction, maxCount, requiresLeader });
    return { readable, cancel: () => readable.cancel() };
  },
  readLast: () => {
    const end = { direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader } as const;
    const readable = client.readAll(end);
    return { readable, cancel: () => readable.cancel() };
  },
  subscribe: (prefixes, after) => subscribe(client, prefixes, after),
});

/**
 * The client reports checkpoints and that it has caught up when they arrive, ahead of events that
 * still wait in its buffer. Here each goes into that same buffer, behind the events before it.
 */
function subscribe(
  client: EventStoreDBClient,
  prefixes: readonly string[],
  after: Position,
): OpenCall {
  const put = (subscription: AllStreamSubscription, mark: Mark['mark']): void => {
    subscription.push({ mark } satisfies Mark);
  };
  const filter = streamNameFilter({
    prefixes: [...prefixes],
    checkpointReached: (subscription, { commit, prepare }) => {
      // Some servers send an unequal pair at the end of the log; an event at `commit` may be due.
      if (commit === prepare) put(subscription, { kind: 'checkpoint', position: commit });
    },
  });
  const fromPosition = after === 0n ? START : { commit: after, prepare: after };
  const readable = client.subscribeToAll({ fromPosition, filter, requiresLeader });
  readable.on('caughtUp', () => put(readable, { kind: 'caught_up' }));
  return { readable, cancel: () => readable.unsubscribe() };
}

/** The client's first question to the server, which it asks by itself before its first append. */
const capabilitiesOf = (client: EventStoreDBClient): Promise<unknown> =>
  // A protected member: without it a failed question looks like an append that may be written.
  Promise.resolve(Reflect.get(client, 'capabilities'));

/** Ends all calls of a client and its connection, which `dispose` alone leaves open. */
async function closeClient(client: EventStoreDBClient): Promise<void> {
  await soon(client.dispose());
  const getChannel = Reflect.get(client, 'getChannel') as () => Promise<{ close(): void }>;
  await soon(getChannel.call(client).then((channel) => channel.close()));
}

/** Waits for an outcome of no interest, but not for long. */
function soon(promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, closeMilliseconds);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(done, done);
  });
}
