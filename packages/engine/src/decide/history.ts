import type { AnyAggregate } from '@counterfoil/kernel';
import type { HistoryRange } from '../define/asking-context.ts';
import type { ChainLink, HistoryEvent } from '../define/context.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { chainStart } from '../log/hash-chain.ts';
import { isRecordId } from '../log/stream-name.ts';
import type { EventStore } from '../log/types.ts';
import { placeOf } from '../stream-cache/stream-state.ts';
import type { RawEvent } from './command.ts';
import { readFailure } from './problems.ts';

/** The events of a record as they stand in the log, with what the engine keeps beside them. */
export async function* chainOf(
  store: Pick<EventStore, 'readStream'>,
  aggregate: AnyAggregate,
  owner: string,
  id: string,
  { from = 0, maximum = Number.MAX_SAFE_INTEGER - 1 }: HistoryRange = {},
): AsyncIterable<ChainLink<RawEvent>> {
  if (!isRecordId(id)) return;
  const { name } = placeOf(aggregate, owner, id);
  try {
    // The event before the first is read for its hash alone.
    const extra = from > 0 ? 1 : 0;
    const wanted = { from: from - extra, maximum: maximum + extra };
    let previous = chainStart;
    for await (const stored of store.readStream(name, wanted)) {
      if (stored.revision < from) {
        previous = stored.metadata.hash;
        continue;
      }
      const event: HistoryEvent<RawEvent> = {
        ...stampedEvent(aggregate, stored),
        event_id: stored.id,
        aggregate_id: id,
        revision: stored.revision,
        position: String(stored.position),
        hash: stored.metadata.hash,
        previous_hash: previous,
      };
      previous = stored.metadata.hash;
      yield belongsTo(aggregate, stored) ? { kind: 'event', event } : { kind: 'kept', event };
    }
  } catch (error) {
    throw readFailure(error);
  }
}

/** The events of a record alone. */
export async function* historyOf(
  ...asked: Parameters<typeof chainOf>
): AsyncIterable<HistoryEvent<RawEvent>> {
  for await (const link of chainOf(...asked)) {
    if (link.kind === 'event') yield link.event;
  }
}
