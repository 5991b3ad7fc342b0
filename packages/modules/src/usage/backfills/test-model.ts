import type { RecordChange, RecordedFacts } from '@counterfoil/engine/define';
import {
  identityOf,
  isRepetition,
  type KnownUsage,
  textsOf,
  type UsageEvent,
} from '../usage-event.ts';

/** The state of a backfill, as `GET /events/backfills/{id}` tells it. */
export interface ModelledBackfill {
  status: 'open' | 'closed' | 'reverted';
  readonly waiting: Map<string, UsageEvent>;
  counted: number;
  repeated: number;
  refused: number;
}

/** A plain model of which usage of a log counts, and of its backfills. */
export function modelOf(log: readonly (RecordedFacts<UsageEvent> | RecordChange)[]) {
  const known = new Map<string, KnownUsage>();
  const backfills = new Map<string, ModelledBackfill>();
  const isSame = (first: KnownUsage, event: UsageEvent): boolean =>
    isRepetition(first, identityOf(event, textsOf(event)), event);
  const noteFirst = (event: UsageEvent): void => {
    const { content } = identityOf(event, textsOf(event));
    known.set(event.event_id, { content, timestamp: event.timestamp });
  };
  const take = (event: UsageEvent): void => {
    const { backfill_id, ...live } = event;
    if (backfill_id === undefined) {
      if (!known.has(event.event_id)) noteFirst(live);
      return;
    }
    const backfill = backfills.get(backfill_id);
    if (!backfill) throw new Error(`${backfill_id} is not there`);
    const first = backfill.waiting.get(event.event_id);
    if (backfill.status !== 'open') backfill.refused += 1;
    else if (!first) backfill.waiting.set(event.event_id, live);
    else {
      const { content } = identityOf(first, textsOf(first));
      if (isSame({ content, timestamp: first.timestamp }, live)) backfill.repeated += 1;
      else backfill.refused += 1;
    }
  };
  const close = (backfill: ModelledBackfill): void => {
    for (const event of backfill.waiting.values()) {
      const first = known.get(event.event_id);
      if (!first) {
        noteFirst(event);
        backfill.counted += 1;
      } else if (isSame(first, event)) backfill.repeated += 1;
      else backfill.refused += 1;
    }
  };
  for (const item of log) {
    if (item.kind === 'facts') {
      for (const event of item.facts) take(event);
      continue;
    }
    const { type, aggregate, aggregate_id: id } = item.event;
    if (aggregate !== 'usage_backfill') continue;
    if (type === 'BackfillOpened') {
      const none = { counted: 0, repeated: 0, refused: 0 };
      backfills.set(id, { status: 'open', waiting: new Map(), ...none });
      continue;
    }
    const backfill = backfills.get(id);
    if (!backfill) throw new Error(`${id} is not there`);
    if (type === 'BackfillClosed') close(backfill);
    backfill.status = type === 'BackfillClosed' ? 'closed' : 'reverted';
    backfill.waiting.clear();
  }
  return { known: [...known.keys()].sort(), backfills };
}
