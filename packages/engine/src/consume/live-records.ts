import type { Aggregate, EventCatalogue } from '@counterfoil/kernel';
import { belongsTo, evolveStored } from '../log/decode.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, StoredEvent } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { isEngineEvent } from '../stream-cache/stream-state.ts';
import { startLiveFold } from './live-fold.ts';
import { createBackOff, sleep } from './run-forever.ts';

interface LiveRecordsOptions<Catalogue extends EventCatalogue, State> {
  readonly store: EventStore;
  readonly aggregate: Aggregate<string, Catalogue, State>;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Told about the states of all records, at the start and after every change. */
  readonly onChange: (states: readonly State[]) => void;
  /** Upper bounds of the first wait and of every wait before the log is followed again. */
  readonly retry?: { readonly firstMilliseconds: number; readonly lastMilliseconds: number };
}

/** Something that runs until it is stopped. */
export interface Keeper {
  /** Throws, with the reason, while the records may differ from the log. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error(String(reason));

const defaultRetry = { firstMilliseconds: 2_000, lastMilliseconds: 60_000 };

/**
 * Records folded from the beginning of the log. One with an event that cannot be folded stays as it was
 * before that event: to pass over the event and go on would make it something that it never was.
 */
class FoldedRecords<Catalogue extends EventCatalogue, State> {
  readonly states = new Map<string, State>();
  /** By stream: the fault of the event at which its record stopped. */
  readonly faults = new Map<string, string>();
  readonly #aggregate: Aggregate<string, Catalogue, State>;

  constructor(aggregate: Aggregate<string, Catalogue, State>) {
    this.#aggregate = aggregate;
  }

  /** Takes the next event. `stopped`: it is the one at which its record stops. */
  take(event: StoredEvent): 'changed' | 'passed' | 'stopped' {
    const { stream, revision, type } = event;
    if (isEngineEvent(event) || this.faults.has(stream)) return 'passed';
    try {
      if (!belongsTo(this.#aggregate, event)) throw new Error(`there is no event ${type}`);
      const before = this.states.get(stream) ?? this.#aggregate.initial;
      this.states.set(stream, evolveStored(this.#aggregate, before, event));
      return 'changed';
    } catch (error) {
      this.faults.set(stream, `${stream}@${revision}: ${asError(error).message}`);
      return 'stopped';
    }
  }
}

/**
 * Follows all records of an aggregate, of every tenant, in memory. For a kind of record of which
 * there are few, and which something outside has to be kept in accordance with.
 *
 * A record with an event that cannot be folded stops alone. When the log itself cannot be read on, it
 * is read again from its beginning, with back-off and for ever, and until that succeeds the records stay
 * as they are. Both are logged, counted and fail `check`.
 */
export function followRecords<Catalogue extends EventCatalogue, State>(
  options: LiveRecordsOptions<Catalogue, State>,
): Keeper {
  const { store, log, metrics, onChange } = options;
  const aggregate: Aggregate<string, Catalogue, State> = options.aggregate;
  const backOff = createBackOff(options.retry ?? defaultRetry);
  const stopping = new AbortController();
  const { signal } = stopping;
  let current = new FoldedRecords(aggregate);
  let failure: Error | null = null;
  let isDue = false;
  const faults = (): string[] => [
    ...(failure ? [failure.message] : []),
    ...current.faults.values(),
  ];
  metrics?.gauge({
    name: 'counterfoil_follow_faults',
    help: 'What keeps records from being followed in memory, by kind of record',
    labels: ['aggregate'],
    collect: (gauge) => gauge.set({ aggregate: aggregate.name }, faults().length),
  });

  const tell = (): void => {
    isDue = false;
    onChange([...current.states.values()]);
  };

  /** Follows the log from its beginning; resolves with what ended it. */
  const follow = async (): Promise<unknown> => {
    const records = new FoldedRecords(aggregate);
    let end: (reason: unknown) => void = () => undefined;
    const ended = new Promise<unknown>((resolve) => {
      end = resolve;
    });
    const apply = (event: StoredEvent): void => {
      const result = records.take(event);
      if (result === 'stopped') {
        log.error({ fault: records.faults.get(event.stream) }, 'a record is not followed any more');
      }
      if (result !== 'changed' || isDue || records !== current) return;
      // Changes that arrive together are reported together.
      isDue = true;
      setImmediate(tell);
    };
    const prefixes = [categoryPrefix(aggregate.name)];
    const fold = startLiveFold({ store, prefixes, apply, onFailed: (error) => end(error) });
    void fold.ready.then(() => {
      current = records;
      failure = null;
      backOff.reset();
      tell();
    });
    signal.addEventListener('abort', end, { once: true });
    const reason = await ended;
    signal.removeEventListener('abort', end);
    await fold.stop();
    return reason;
  };

  const keepFollowing = async (): Promise<void> => {
    while (!signal.aborted) {
      const reason = await follow();
      if (signal.aborted) return;
      failure = asError(reason);
      log.error({ err: failure, aggregate: aggregate.name }, 'not followed, tries again');
      await sleep(backOff.next(), signal);
    }
  };
  const running = keepFollowing();
  return {
    async check() {
      const [first, ...others] = faults();
      if (first === undefined) return;
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      throw new Error(`${aggregate.name} records cannot be followed: ${first}${more}`);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
