import { setTimeout as pause } from 'node:timers/promises';
import type { Part } from './plan.ts';
import type { LoadRequest, NextRequest } from './requests.ts';
import type { Answer, Sender } from './sender.ts';
import type { Tally } from './tally.ts';

/** One part of a load while it runs. */
export interface RunningPart {
  readonly part: Part;
  readonly next: NextRequest;
  readonly sender: Sender;
  /** Sends the reads that look for the writes, apart from the load itself. */
  readonly onlooker: Sender;
  readonly tally: Tally;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Requests of an open loop that may wait for their answers. More are counted, and not sent. */
const waitingMaximum = 20_000;
const repeatMilliseconds = 50;
const finalMilliseconds = 120_000;
const tickMilliseconds = 1;

/** Runs a part at its pace. Resolves when the last answer has come. */
export function runPart(running: RunningPart): Promise<unknown> {
  const { part } = running;
  if (part.pace.kind === 'open') return openLoop(running, part.pace.perSecond);
  return Promise.all(Array.from({ length: part.clients }, () => closedLoop(running)));
}

async function closedLoop(running: RunningPart): Promise<void> {
  while (performance.now() < running.endsAt) await finish(running, performance.now());
}

/**
 * The n-th request is due n intervals after the start, and its time counts from then: a service that
 * stops for a while is charged with all the requests that it kept waiting.
 */
async function openLoop(running: RunningPart, perSecond: number): Promise<void> {
  const { startsAt, endsAt, tally } = running;
  const interval = 1_000 / perSecond;
  const waiting = new Set<Promise<void>>();
  const wanted = Math.floor((endsAt - startsAt) / interval);
  for (let sent = 0; sent < wanted; ) {
    for (; sent < wanted && startsAt + sent * interval <= performance.now(); sent += 1) {
      if (waiting.size >= waitingMaximum) {
        tally.notSent();
        continue;
      }
      const request = finish(running, startsAt + sent * interval);
      waiting.add(request);
      void request.then(() => waiting.delete(request));
    }
    await pause(tickMilliseconds);
  }
  await Promise.all(waiting);
}

/** Sends one request and records its end. Never rejects. */
async function finish(running: RunningPart, intendedAt: number): Promise<void> {
  const { part, next, sender, tally } = running;
  const { work } = part;
  const request = next();
  const isInsistent = work.kind === 'writes' && work.isInsistent;
  const { answer, attempts } = isInsistent
    ? await insist(running, request)
    : { answer: await sender.send(request), attempts: 1 };
  tally.finished(request, answer, intendedAt, attempts);
  const every = work.kind === 'writes' ? work.followedEvery : 0;
  if (every > 0 && (request.number ?? 1) % every === 0) await untilSeen(running, request, answer);
}

/** Repeats a request until it has a final answer, but not for ever. */
async function insist(
  { sender, tally }: RunningPart,
  request: LoadRequest,
): Promise<{ answer: Answer; attempts: number }> {
  const deadline = performance.now() + finalMilliseconds;
  for (let attempts = 1; ; attempts += 1) {
    const answer = await sender.send(request);
    if (answer.kind !== 'unknown' || performance.now() >= deadline) return { answer, attempts };
    tally.retried(answer);
    await pause(repeatMilliseconds);
  }
}

/** Reads the wallet at the position of a write until the read model is there. */
async function untilSeen(
  { onlooker, tally }: RunningPart,
  { wallet }: LoadRequest,
  answer: Answer,
): Promise<void> {
  if (wallet === null || answer.kind !== 'success' || answer.position === null) return;
  const answeredAt = performance.now();
  const read: LoadRequest = {
    name: 'onlooker',
    method: 'GET',
    path: wallet,
    body: null,
    number: null,
    key: null,
    isRepeat: false,
    wallet: null,
    entries: 0,
  };
  const position = { 'counterfoil-min-position': String(answer.position) };
  while (performance.now() < answeredAt + finalMilliseconds) {
    const seen = await onlooker.send(read, position);
    if (seen.kind === 'success') break;
    await pause(repeatMilliseconds);
  }
  tally.seen(answeredAt);
}
