import { createBackOff, sleep } from '../consume/run-forever.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { PublicMessage } from '../relay/public-message.ts';
import { ConnectionLost, type Nats, type NatsSession } from './nats-connection.ts';
import { openPull } from './nats-pull.ts';
import { streamInfo } from './nats-streams.ts';
import { type JetStreamRequests, jetStreamRequests, messagePlace } from './nats-tail.ts';

/** The last message that a reader is done with; a `PublicMessage` is one. */
export interface ReaderPlace {
  readonly sequence: number;
  readonly position: Position;
}

export interface FollowOptions {
  readonly nats: Nats;
  /** The last message that has been dealt with; null to start with the oldest that is kept. */
  readonly after: ReaderPlace | null;
  readonly signal: AbortSignal;
  readonly log: Log;
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
 * Reads the public stream in order, without gaps or repetitions, in batches of what has arrived.
 * Continues by itself after any loss of the connection or the broker. Where the stream has lost its
 * end it waits until the relay has filled it again. Ends when the signal aborts; throws
 * `StreamMismatch` when going on would skip messages or mix two streams.
 */
export async function* followPublicStream(
  options: FollowOptions,
): AsyncGenerator<readonly PublicMessage[], void, undefined> {
  const { nats, signal, log, onFault } = options;
  const backOff = createBackOff({ firstMilliseconds: 100, lastMilliseconds: 5_000 });
  let after = options.after;
  while (!signal.aborted) {
    try {
      const session = await nats.session(signal);
      for await (const batch of readSession(session, { ...options, after })) {
        backOff.reset();
        after = batch.at(-1) ?? after;
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
  { after, signal, log, maximum = 256, onFault }: FollowOptions,
): AsyncGenerator<readonly PublicMessage[]> {
  const ended = AbortSignal.any([signal, session.lost]);
  const requests = await jetStreamRequests(session);
  if (after) await confirmPlace(requests, after, log, ended);
  const from = (after?.sequence ?? 0) + 1;
  let last = after?.sequence ?? null;
  const pull = await openPull(requests, { from, maximum, signal: ended });
  onFault?.(null);
  try {
    for await (const messages of pull.batches) {
      const fresh = messages.filter(({ sequence }) => last === null || sequence > last);
      for (const { sequence } of fresh) {
        if (last !== null && sequence !== last + 1) await explainGap(requests, last);
        last = sequence;
      }
      if (fresh.length > 0) yield fresh;
    }
  } finally {
    pull.close();
  }
  ended.throwIfAborted();
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
