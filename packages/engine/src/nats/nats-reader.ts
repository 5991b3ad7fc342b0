import { gathered } from '../consume/gathering.ts';
import { orIdle } from '../consume/or-idle.ts';
import { createBackOff, sleep } from '../consume/run-forever.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { PublicMessage } from '../relay/public-message.ts';
import { ConnectionLost, type Nats, type NatsSession } from './nats-connection.ts';
import { openPull, type Pull } from './nats-pull.ts';
import { streamInfo } from './nats-streams.ts';
import { type JetStreamRequests, jetStreamRequests, messagePlace, readTail } from './nats-tail.ts';

/** The last message that a reader is done with; a `PublicMessage` is one. */
export interface ReaderPlace {
  readonly sequence: number;
  readonly position: Position;
}

/** Messages of the stream, and how far it has been read with them. */
export interface PublicBatch {
  /** None where only the place has moved on. */
  readonly messages: readonly PublicMessage[];
  /** Every wanted message up to here has been handed over. */
  readonly reached: ReaderPlace & Pick<PublicMessage, 'index'>;
}

export interface FollowOptions {
  readonly nats: Nats;
  /** The last message that has been dealt with; null to start with the oldest that is kept. */
  readonly after: ReaderPlace | null;
  readonly signal: AbortSignal;
  readonly log: Log;
  /**
   * The subjects of the messages that are wanted, none of them perhaps; every message when absent. Others may
   * come with them where the server cannot tell so many subjects apart. While nothing wanted comes, batches without messages come at least twice a second, and tell at least every other
   * second how far the stream has been read.
   */
  readonly wanted?: readonly string[] | undefined;
  /** Messages in one batch at most. 256 unless given. */
  readonly maximum?: number;
  /** Told why the stream cannot be read, and null when reading begins again. A lost connection is not told. */
  readonly onFault?: (fault: unknown) => void;
}

/**
 * The stream does not go on where the reader is. `recreated`: its message with the reader's
 * sequence is about another event. `aged_out`: messages that the reader has not seen are no
 * longer kept; the oldest that is left is `firstSequence`.
 */
export class StreamMismatch extends Error {
  override readonly name = 'StreamMismatch';
  readonly reason: 'recreated' | 'aged_out';
  readonly firstSequence: number;
  constructor(reason: 'recreated' | 'aged_out', firstSequence: number, message: string) {
    super(message);
    this.reason = reason;
    this.firstSequence = firstSequence;
  }
}

/**
 * Reads the public stream in order, without gaps or repetitions, in batches of what has arrived; they
 * gather while much is coming. Continues by itself after any loss of the connection or the broker. Where
 * the stream has lost its end it waits until the relay has filled it again. Ends when the signal aborts;
 * throws `StreamMismatch` when going on would skip messages or mix two streams.
 */
export async function* followPublicStream(
  options: FollowOptions,
): AsyncGenerator<PublicBatch, void, undefined> {
  const { nats, signal, log, onFault } = options;
  const backOff = createBackOff({ firstMilliseconds: 100, lastMilliseconds: 5_000 });
  let after = options.after;
  while (!signal.aborted) {
    try {
      const session = await nats.session(signal);
      for await (const batch of readSession(session, { ...options, after })) {
        backOff.reset();
        after = batch.reached;
        yield batch;
      }
    } catch (error) {
      if (error instanceof StreamMismatch) throw error;
      if (signal.aborted) return;
      if (!(error instanceof ConnectionLost)) {
        log.warn({ err: error }, 'public stream: reading failed, tries again');
        onFault?.(error);
        await sleep(backOff.next(), signal);
      }
    }
  }
}

async function* readSession(
  session: NatsSession,
  { after, signal, log, wanted, maximum = 256, onFault }: FollowOptions,
): AsyncGenerator<PublicBatch> {
  const ended = AbortSignal.any([signal, session.lost]);
  const requests = await jetStreamRequests(session);
  if (after) await confirmPlace(requests, after, log, ended);
  const from = (after?.sequence ?? 0) + 1;
  const last = after?.sequence ?? null;
  if (wanted?.length === 0) {
    onFault?.(null);
    yield* placesOf(requests, last, ended);
  } else {
    const filters = wanted && { filters: wanted };
    const pull = await openPull(requests, { from, maximum, signal: ended, ...filters });
    onFault?.(null);
    try {
      yield* wanted
        ? readWanted(requests, pull, last, ended)
        : readAll(requests, pull, last, ended);
    } finally {
      pull.close();
    }
  }
  ended.throwIfAborted();
}

/** Every message after a sequence. */
async function* readAll(
  requests: JetStreamRequests,
  pull: Pull,
  after: number | null,
  signal: AbortSignal,
): AsyncGenerator<PublicBatch> {
  let last = after;
  for await (const messages of gathered(pull.batches, signal)) {
    const fresh = messages.filter(({ sequence }) => last === null || sequence > last);
    for (const { sequence } of fresh) {
      if (last !== null && sequence !== last + 1) await explainGap(requests, last);
      last = sequence;
    }
    const reached = fresh.at(-1);
    if (reached) yield { messages: fresh, reached };
  }
}

/** Time after which the end of the stream is looked at while nothing that is wanted comes. */
const idleMilliseconds = 500;
const idleWaits = { firstMilliseconds: idleMilliseconds, lastMilliseconds: idleMilliseconds };
/** Time after which it is looked at in any case, for messages that are no longer kept. */
const lookMilliseconds = 5_000;

/**
 * The messages of a pull that leaves out others. Gaps are the rule here, so what it does not hand over is
 * known by other means: deliveries are counted, the oldest message that is kept is looked at from time to
 * time, and the end of the stream is only reached when nothing before it waits.
 */
async function* readWanted(
  requests: JetStreamRequests,
  pull: Pull,
  after: number | null,
  signal: AbortSignal,
): AsyncGenerator<PublicBatch> {
  let last = after;
  let seen = last;
  let taken = 0;
  let lookAt = performance.now() + lookMilliseconds;
  const { sequence: held } = await readTail(requests);
  for await (const messages of orIdle(gathered(pull.batches, signal), idleWaits)) {
    const reached = messages?.at(-1) ?? null;
    if (messages && reached) {
      yield { messages, reached };
      taken += messages.length;
      last = reached.sequence;
      if (performance.now() < lookAt) continue;
    }
    lookAt = performance.now() + lookMilliseconds;
    if (seen !== null) await refuseAgedOut(requests, seen);
    seen = last;
    if (reached) continue;
    const { sequence, last: end } = await readTail(requests);
    if (end && sequence >= (last ?? 0) && (await pull.isLevel(taken, sequence, held))) {
      last = sequence;
      yield { messages: [], reached: { sequence, position: end.position, index: end.index } };
    }
  }
}

/** Turns of an idle reader from one look at the end of the stream to the next, where none of its messages are wanted. */
const turnsPerLook = 4;

/**
 * The ends of the stream as it grows, for somebody who wants none of its messages. The last one is told again between
 * two looks, so that the reader may see meanwhile whether it still wants none.
 */
async function* placesOf(
  requests: JetStreamRequests,
  after: number | null,
  signal: AbortSignal,
): AsyncGenerator<PublicBatch> {
  let last = after ?? 0;
  let known: string | null = null;
  while (!signal.aborted) {
    const { identity, sequence, last: end } = await readTail(requests);
    known ??= identity;
    if (identity !== known) throw new Error('The public stream was replaced.');
    if (sequence < last) throw new Error('The public stream has lost its end.');
    last = sequence;
    const reached = end && { sequence, position: end.position, index: end.index };
    for (let turn = 0; turn < turnsPerLook && !signal.aborted; turn += 1) {
      if (reached) yield { messages: [], reached };
      await sleep(idleMilliseconds, signal);
    }
  }
}

/**
 * Resolves when the stream is known to hold the reader's last message, or to have held it. A
 * stream that is shorter has lost its end, and the relay is about to fill it again.
 */
async function confirmPlace(
  requests: JetStreamRequests,
  after: ReaderPlace,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const backOff = createBackOff({ firstMilliseconds: 100, lastMilliseconds: 2_000 });
  for (let told = false; ; told = true) {
    const info = await requests.run(streamInfo(requests.manager));
    if (info && info.state.last_seq >= after.sequence) break;
    const last = info?.state.last_seq ?? 0;
    if (!told) log.warn({ last, after: after.sequence }, 'public stream: waits for lost messages');
    await sleep(backOff.next(), signal);
    signal.throwIfAborted();
  }
  const found = await messagePlace(requests, after.sequence);
  if (!found) return refuseAgedOut(requests, after.sequence);
  const { position } = found;
  if (position === after.position) return;
  const { sequence } = after;
  throw new StreamMismatch(
    'recreated',
    sequence,
    `message ${sequence} of the public stream is at position ${position}, and not at ${after.position} as when it was read`,
  );
}

/** Throws when messages right after a sequence are no longer kept. */
async function refuseAgedOut({ manager, run }: JetStreamRequests, sequence: number): Promise<void> {
  const first = (await run(streamInfo(manager)))?.state.first_seq ?? 0;
  if (first <= sequence + 1) return;
  throw new StreamMismatch(
    'aged_out',
    first,
    `messages ${sequence + 1} to ${first - 1} of the public stream are no longer kept`,
  );
}

/** A sequence is missing: either it has aged out, which is final, or the delivery was faulty. */
async function explainGap(requests: JetStreamRequests, last: number): Promise<never> {
  await refuseAgedOut(requests, last);
  throw new Error(`NATS left out message ${last + 1} of the public stream`);
}
