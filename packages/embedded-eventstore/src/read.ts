/** Reads with a count: from a stream or from `$all`, in pages, never faster than the client. */

import type { LogEntry, StreamEntry } from './entry.ts';
import { limits } from './limits.ts';
import type { Outlet } from './outlet.ts';
import type { AllRead, StreamRead } from './read-plan.ts';
import { createdAtOf, dataOf, isLink, linkResponseOf, responseOf } from './record.ts';
import { streamNotFound } from './responses.ts';
import { streamDeleted } from './status.ts';
import type { Storage } from './storage.ts';
import type { EventStore } from './store.ts';
import { visibilityOf } from './visible-range.ts';

/** The message for one event, with its link target when the reader wants links resolved. */
export function messageOf(storage: Storage, record: Buffer, resolveLinks: boolean): Buffer {
  if (!resolveLinks || !isLink(record)) return responseOf(record);
  return linkResponseOf(record, targetOf(storage, record));
}

function targetOf(storage: Storage, link: Buffer): Buffer | undefined {
  const text = dataOf(link).toString();
  const separator = text.indexOf('@');
  const revision = Number(text.slice(0, separator));
  if (separator < 1 || !Number.isSafeInteger(revision) || revision < 0) return undefined;
  const row = storage.findStream(text.slice(separator + 1));
  if (row === undefined || row.tombstonePosition !== undefined) return undefined;
  return storage.streamAt(row.id, revision)?.record;
}

/** Lets other calls run between the pages of a long scan. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Serves a counted read of one stream up to the head it had when the read began. */
export async function readStream(
  store: EventStore,
  plan: StreamRead,
  outlet: Outlet,
): Promise<void> {
  const { storage } = store;
  const visibility = visibilityOf(storage, plan.streamName, Date.now());
  if (visibility.kind === 'deleted') return outlet.fail(streamDeleted(plan.streamName));
  if (visibility.kind === 'not-found') {
    outlet.push(streamNotFound(plan.streamName));
    return outlet.end();
  }
  const { row, firstRevision, createdAfter } = visibility;
  const pages = plan.backwards
    ? backwardPages(storage, row.id, Math.min(plan.from, row.lastRevision), firstRevision)
    : forwardPages(storage, row.id, Math.max(plan.from, firstRevision), row.lastRevision);
  let left = plan.count;
  for (const page of pages) {
    for (const { record } of page) {
      if (createdAtOf(record) < createdAfter) continue;
      outlet.push(messageOf(storage, record, plan.resolveLinks));
      left -= 1;
      if (left === 0) return outlet.end();
      if (outlet.isFull()) await outlet.flush();
      if (outlet.isClosed()) return;
    }
    await outlet.flush();
    await nextTurn();
  }
  outlet.end();
}

function* forwardPages(
  storage: Storage,
  streamId: number,
  from: number,
  to: number,
): Generator<StreamEntry[]> {
  let next = from;
  while (next <= to) {
    const page = storage.streamForward(streamId, next, to, limits.readPageEvents);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    next = last.revision + 1;
  }
}

function* backwardPages(
  storage: Storage,
  streamId: number,
  from: number,
  to: number,
): Generator<StreamEntry[]> {
  let next = from;
  while (next >= to) {
    const page = storage.streamBackward(streamId, next, to, limits.readPageEvents);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    next = last.revision - 1;
  }
}

/** Serves a counted read of `$all` up to the position that was durable when the read began. */
export async function readAll(store: EventStore, plan: AllRead, outlet: Outlet): Promise<void> {
  const { storage } = store;
  const durable = store.durable.position();
  const pages = plan.backwards
    ? backwardLog(storage, Math.min(plan.from, durable + 1))
    : forwardLog(storage, plan.from, durable);
  let left = plan.count;
  for (const page of pages) {
    for (const { record } of page) {
      if (plan.filter !== undefined && !plan.filter.matches(record)) continue;
      outlet.push(messageOf(storage, record, plan.resolveLinks));
      left -= 1;
      if (left === 0) return outlet.end();
      if (outlet.isFull()) await outlet.flush();
      if (outlet.isClosed()) return;
    }
    await outlet.flush();
    await nextTurn();
  }
  outlet.end();
}

function* forwardLog(storage: Storage, from: number, to: number): Generator<LogEntry[]> {
  let next = from;
  while (next <= to) {
    const page = storage.logForward(next, to, limits.readPageEvents);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    next = last.position + 1;
  }
}

function* backwardLog(storage: Storage, before: number): Generator<LogEntry[]> {
  let next = before;
  while (next > 1) {
    const page = storage.logBackward(next, limits.readPageEvents);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    next = last.position;
  }
}
