import type { AnyFactTables, Filler } from '../define/intake.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { fillDecoder, fillPrefixes, passedBy } from './fill-batch.ts';
import { weigherOf, writtenTogether } from './portions.ts';

interface FillBesideOptions {
  readonly store: Pick<EventStore, 'readLog'>;
  readonly tables: AnyFactTables;
}

/**
 * Fills tables that nobody reads, stretch by stretch of the log, each to its end with all that is left to do beside. Rejects
 * where the signal aborts.
 */
export function fillBeside({ store, tables }: FillBesideOptions, filler: Filler<unknown>) {
  const decode = fillDecoder(tables);
  const prefixes = fillPrefixes(tables);
  const weigh = weigherOf(tables);
  const passesBy = passedBy(filler);
  return async (after: Position, upTo: Position, signal?: AbortSignal): Promise<void> => {
    let batch: StoredEvent[] = [];
    let weight = 0;
    const flush = async (): Promise<void> => {
      signal?.throwIfAborted();
      await filler.take(decode(batch));
      [batch, weight] = [[], 0];
    };
    if (after < upTo) {
      // With the first batch it learns what it may pass by.
      await flush();
      for await (const event of store.readLog({ prefixes, after, upTo })) {
        if (passesBy(event)) continue;
        batch.push(event);
        weight += weigh(event);
        if (weight >= writtenTogether) await flush();
      }
    }
    await flush();
    while (filler.hasMore) {
      signal?.throwIfAborted();
      await filler.tend?.();
    }
  };
}
