/**
 * Subscriptions: one loop per call that reads the durable events and then waits for more. There is
 * no buffer per subscriber, so a slow one is never dropped and never falls behind.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { limits } from './limits.ts';
import type { Outlet } from './outlet.ts';
import { messageOf, nextTurn } from './read.ts';
import type { AllSubscription, StreamSubscription } from './read-plan.ts';
import { createdAtOf, responseOf } from './record.ts';
import { CAUGHT_UP, type CheckpointPlace, checkpoint, confirmation } from './responses.ts';
import { consumerTooSlow, streamDeleted } from './status.ts';
import type { EventStore } from './store.ts';
import { visibilityOf } from './visible-range.ts';

interface Bell {
  /** Resolves when it has rung since the last wait, or the call is over. */
  wait(): Promise<void>;
}

/** Remembers a wake-up that comes while the subscription is busy sending. */
function createBell(outlet: Outlet, watch: (wake: () => void) => () => void): Bell {
  let rung = false;
  let resolve: (() => void) | undefined;
  const ring = (): void => {
    rung = true;
    resolve?.();
  };
  const stop = watch(ring);
  outlet.onClosed(() => {
    stop();
    ring();
  });
  return {
    wait: async () => {
      if (!rung && !outlet.isClosed()) {
        await new Promise<void>((done) => {
          resolve = done;
        });
      }
      resolve = undefined;
      rung = false;
    },
  };
}

/** The terms on which a server serves subscriptions. */
export interface SubscriptionTerms {
  /**
   * Matching events that may come at once while a subscription to `$all` is live: with more it ends, as on
   * servers that keep a buffer for each. None unless given.
   */
  readonly liveEvents?: number;
  /** Awaited by a subscription to `$all` that is live after each time that it has found something new. */
  readonly rest?: () => Promise<void>;
}

/** The events of this time go out together: to send and to take a message costs more than what is in it. */
const shortRest = (): Promise<void> => pause(limits.liveRestMilliseconds);

/** Serves a subscription to `$all` until the client leaves. */
export async function subscribeToAll(
  store: EventStore,
  plan: AllSubscription,
  outlet: Outlet,
  { liveEvents = Number.POSITIVE_INFINITY, rest = shortRest }: SubscriptionTerms = {},
): Promise<void> {
  const { storage, durable } = store;
  const bell = createBell(outlet, durable.watchAll);
  const progress = createProgress(plan, outlet);
  let next = plan.from === Number.POSITIVE_INFINITY ? durable.position() + 1 : plan.from;
  let live = false;
  outlet.push(confirmation(randomUUID()));
  while (!outlet.isClosed()) {
    const to = durable.position();
    const page = next > to ? [] : storage.logForward(next, to, limits.readPageEvents);
    let sent = 0;
    for (const { position, record } of page) {
      next = position + 1;
      const matches = plan.filter === undefined || plan.filter.matches(record);
      if (matches) sent += 1;
      if (live && sent > liveEvents) return outlet.fail(consumerTooSlow());
      if (matches) outlet.push(messageOf(storage, record, plan.resolveLinks));
      progress.considered(position, matches);
      if (outlet.isFull()) await outlet.flush();
      if (outlet.isClosed()) return;
    }
    if (page.length === 0 && !live) {
      live = true;
      progress.caughtUp();
      outlet.push(CAUGHT_UP);
    }
    await outlet.flush();
    if (page.length === 0) await bell.wait();
    // One that has not come to the end sends on.
    else await (live && next > to ? rest() : nextTurn());
  }
}

interface Progress {
  considered(position: number, wasSent: boolean): void;
  caughtUp(): void;
}

/** Counts considered events for a filtered subscription and sends its checkpoints. */
function createProgress(plan: AllSubscription, outlet: Outlet): Progress {
  const { filter } = plan;
  if (filter === undefined) return { considered: () => {}, caughtUp: () => {} };
  let count = 0;
  let place: CheckpointPlace = { commit: 0, prepare: 0 };
  const send = (): void => {
    count = 0;
    outlet.push(checkpoint(place));
  };
  return {
    considered: (position, wasSent) => {
      // The real server names an event only when it has just sent it, else the place before the next one.
      place = wasSent
        ? { commit: position, prepare: position }
        : { commit: position + 1, prepare: 0 };
      count += 1;
      if (count >= filter.checkpointInterval) send();
    },
    // A checkpoint is only ever right after an event that was considered, and never twice.
    caughtUp: () => {
      if (count > 0) send();
    },
  };
}

/** Serves a subscription to one stream until the client leaves or the stream is tombstoned. */
export async function subscribeToStream(
  store: EventStore,
  plan: StreamSubscription,
  outlet: Outlet,
): Promise<void> {
  const { storage, durable } = store;
  const { streamName, resolveLinks } = plan;
  const start = visibilityOf(storage, streamName, Date.now());
  if (start.kind === 'deleted') return outlet.fail(streamDeleted(streamName));
  const bell = createBell(outlet, (wake) => durable.watchStream(streamName, wake));
  let next = plan.from;
  if (next === Number.POSITIVE_INFINITY) {
    next = (storage.findStream(streamName)?.lastRevision ?? -1) + 1;
  }
  let live = false;
  outlet.push(confirmation(randomUUID()));
  while (!outlet.isClosed()) {
    const seen = visibilityOf(storage, streamName, Date.now());
    const row = seen.kind === 'not-found' ? undefined : seen.row;
    if (seen.kind === 'visible') next = Math.max(next, seen.firstRevision);
    const page =
      row === undefined || next > row.lastRevision
        ? []
        : storage.streamForward(row.id, next, row.lastRevision, limits.readPageEvents);
    for (const { revision, record } of page) {
      next = revision + 1;
      if (seen.kind === 'visible' && createdAtOf(record) < seen.createdAfter) continue;
      outlet.push(messageOf(storage, record, resolveLinks));
      if (outlet.isFull()) await outlet.flush();
      if (outlet.isClosed()) return;
    }
    if (page.length === 0) {
      if (seen.kind === 'deleted') return endWithTombstone(store, plan, outlet, row);
      if (!live) outlet.push(CAUGHT_UP);
      live = true;
    }
    await outlet.flush();
    await (page.length > 0 ? nextTurn() : bell.wait());
  }
}

function endWithTombstone(
  store: EventStore,
  plan: StreamSubscription,
  outlet: Outlet,
  row: { readonly tombstonePosition?: number } | undefined,
): void {
  const record =
    row?.tombstonePosition === undefined
      ? undefined
      : store.storage.recordAt(row.tombstonePosition);
  if (record !== undefined) outlet.push(responseOf(record));
  outlet.fail(streamDeleted(plan.streamName));
}
