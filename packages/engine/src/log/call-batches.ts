import type { Readable } from 'node:stream';
import { createBatchQueue } from './batch-queue.ts';
import { isStreamNotFound, readError } from './client-errors.ts';
import { StoreUnavailable } from './types.ts';

/** A read or a subscription of the client that is under way. */
export interface OpenCall {
  /** Gives lists of objects, those that came together; at its end it emits `error`, `end`, both, or only `close`. */
  readonly readable: Promise<Readable>;
  /** Tells the server to stop. Without it an unfinished call stays open for ever. */
  cancel(): Promise<void>;
  /** The meaning of an error of the call, as far as the client knows it. */
  explain(error: unknown): unknown;
}

export interface CallOptions<Raw, Item> {
  /** Named in errors, such as `read of wallet-x.y`. */
  readonly what: string;
  readonly open: () => OpenCall;
  /** The item that an object of the call stands for; null for none. May throw. */
  readonly accept: (raw: Raw) => Item | null;
  /** The call is abandoned with the reason of the first that aborts. */
  readonly signals: readonly AbortSignal[];
  /** Items in one batch at most. */
  readonly maximum: number;
  /** The call fails when it sends nothing for this many milliseconds while we wait for it. */
  readonly silenceMilliseconds: number;
  /** True when the call may be silent for any time once it has begun to answer. */
  readonly isLive?: boolean;
}

/** The least number of items that may wait for a slow consumer; a larger batch raises it. */
const queueMinimum = 256;

/**
 * The items of one call, in batches: everything that has arrived, at most `maximum`. Ends when
 * the call ends. Throws when the call fails, after the items before the failure have been taken, and
 * at once when a signal aborts: a read that is cut short must not look like a complete one. The call
 * is cancelled in every case.
 */
export async function* batchesOfCall<Raw, Item>(
  options: CallOptions<Raw, Item>,
): AsyncGenerator<readonly Item[], void, undefined> {
  const { what, signals, maximum } = options;
  for (const signal of signals) signal.throwIfAborted();
  const call = options.open();
  let readable: Readable | null = null;
  const queue = createBatchQueue<Item>({
    capacity: Math.max(2 * maximum, queueMinimum),
    pauseSource: () => readable?.pause(),
    resumeSource: () => readable?.resume(),
  });
  const silence = watchSilence(options, (error) => queue.finish(error));
  const take = (raws: readonly Raw[]): void => {
    silence.heard();
    try {
      for (const raw of raws) {
        const item = options.accept(raw);
        if (item !== null) queue.push(item);
      }
    } catch (error) {
      queue.finish(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const fail = (error: unknown): void => queue.finish(lossOf(what, call.explain(error)));
  const listen = (opened: Readable): void => {
    readable = opened;
    // These listeners are never removed: an `error` without a listener would end the process.
    readable
      .on('data', take)
      .on('error', fail)
      .on('end', () => queue.finish())
      .on('close', () => queue.finish());
  };
  call.readable.then(listen, fail);
  const abandon = (): void => queue.abandon();
  for (const signal of signals) signal.addEventListener('abort', abandon);
  try {
    for (;;) {
      const batch = await silence.over(queue.take(maximum));
      for (const signal of signals) signal.throwIfAborted();
      if (batch === null) return;
      yield batch;
      for (const signal of signals) signal.throwIfAborted();
    }
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abandon);
    silence.stop();
    queue.abandon();
    if (!hasEnded(readable)) call.cancel().catch(() => {});
  }
}

/** A call whose end has arrived has nothing left to cancel. */
const hasEnded = (readable: Readable | null): boolean => readable?.readableEnded ?? false;

/** A stream that was never written is no failure: there is nothing to read. */
const lossOf = (what: string, error: unknown): Error | undefined =>
  isStreamNotFound(error) ? undefined : readError(what, error);

interface SilenceWatch {
  /** Counts the time of a wait for the next batch. */
  over<Value>(wait: Promise<Value>): Promise<Value>;
  /** The call has sent something, whatever it means. */
  heard(): void;
  stop(): void;
}

/** Counts only time in which the consumer waits: a slow consumer is no silent server. */
function watchSilence<Raw, Item>(
  { what, silenceMilliseconds, isLive = false }: CallOptions<Raw, Item>,
  fail: (error: Error) => void,
): SilenceWatch {
  let timer: NodeJS.Timeout | undefined;
  let watching = true;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const expire = (): void =>
    fail(new StoreUnavailable(`${what}: no answer within ${silenceMilliseconds} ms`));
  return {
    over: async (wait) => {
      if (watching) timer = setTimeout(expire, silenceMilliseconds);
      try {
        return await wait;
      } finally {
        stop();
      }
    },
    heard: () => {
      if (!isLive) timer?.refresh();
      else if (watching) {
        watching = false;
        stop();
      }
    },
    stop,
  };
}
