import type { Aggregate, EventCatalogue } from '@counterfoil/kernel';
import { belongsTo, evolveStored } from '../log/decode.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { startLiveFold } from './live-fold.ts';

interface LiveRecordsOptions<Catalogue extends EventCatalogue, State> {
  readonly store: EventStore;
  readonly aggregate: Aggregate<string, Catalogue, State>;
  readonly log: Log;
  /** Told about the states of all records, at the start and after every change. */
  readonly onChange: (states: readonly State[]) => void;
}

/** Something that goes on until it is stopped. */
export interface Keeper {
  stop(): Promise<void>;
}

/**
 * Follows all records of an aggregate, of every tenant, in memory. For a kind of record of which
 * there are few, and which something outside has to be kept in accordance with.
 */
export function followRecords<Catalogue extends EventCatalogue, State>(
  options: LiveRecordsOptions<Catalogue, State>,
): Keeper {
  const { store, log, onChange } = options;
  const aggregate: Aggregate<string, Catalogue, State> = options.aggregate;
  const states = new Map<string, State>();
  let isReady = false;
  let isDue = false;
  const tell = (): void => {
    isDue = false;
    onChange([...states.values()]);
  };
  const fold = startLiveFold({
    store,
    prefixes: [categoryPrefix(aggregate.name)],
    apply: (event) => {
      if (!belongsTo(aggregate, event)) return;
      const before = states.get(event.stream) ?? aggregate.initial;
      states.set(event.stream, evolveStored(aggregate, before, event));
      if (!isReady || isDue) return;
      // What arrives together is told together.
      isDue = true;
      setImmediate(tell);
    },
    onFailed: (error) =>
      log.error({ err: error, aggregate: aggregate.name }, 'not followed any more'),
  });
  void fold.ready.then(() => {
    isReady = true;
    tell();
  });
  return fold;
}
