import type { Aggregate, AnyAggregate, EventCatalogue, EventOf } from '@counterfoil/kernel';
import type { ReservationClaims } from '../constraints/claims.ts';
import type { HistoryRange, RecalledRecords } from '../define/asking-context.ts';
import type { HistoryEvent } from '../define/context.ts';
import { isRecordId } from '../log/stream-name.ts';
import type { Position } from '../log/types.ts';
import type { StreamState } from '../stream-cache/stream-state.ts';
import type { Writer } from './command.ts';
import type { RememberedEvents } from './remembered-events.ts';

interface RecalledOptions {
  readonly claims: Pick<ReservationClaims, 'holderOf'>;
  readonly remembered: Pick<RememberedEvents, 'upTo'>;
  readonly writerOf: (
    aggregate: AnyAggregate,
    id: string,
  ) => Pick<Writer<unknown>, 'current' | 'seen'>;
  readonly scopeOf: (aggregate: AnyAggregate) => string;
  /** The position up to which the records must be known. */
  readonly atLeast: Position;
}

/**
 * The records as this process knows them, at least up to a position. That there is none is said by the log alone, but to those
 * who ask for what is known: a record that was made a moment ago elsewhere is found.
 */
export function recalledRecords(options: RecalledOptions): RecalledRecords {
  const { claims, remembered, writerOf, scopeOf, atLeast } = options;
  const seen = async (aggregate: AnyAggregate, id: string): Promise<StreamState<unknown> | null> =>
    isRecordId(id) ? await writerOf(aggregate, id).seen(atLeast) : null;
  return {
    async load<Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
    ): Promise<State> {
      const any: AnyAggregate = aggregate;
      const known = await seen(any, id);
      if (known === null) return aggregate.initial;
      const stream = known.recordRevision >= 0 ? known : await writerOf(any, id).current();
      return stream.state as State;
    },

    async known<Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
    ): Promise<State> {
      const any: AnyAggregate = aggregate;
      return ((await seen(any, id))?.state ?? aggregate.initial) as State;
    },

    async *history<Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
      { from = 0, maximum = Number.MAX_SAFE_INTEGER }: HistoryRange = {},
    ) {
      const any: AnyAggregate = aggregate;
      const known = await seen(any, id);
      if (known === null || known.recordRevision < 0) return;
      const { revision } = known.head;
      for (const event of await remembered.upTo(any, scopeOf(any), id, revision)) {
        const isAsked = event.revision >= from && event.revision - from < maximum;
        if (isAsked) yield event as HistoryEvent<EventOf<Catalogue>>;
      }
    },

    async holderOf(aggregate, name, value) {
      const asked = { name, value };
      const known = await claims.holderOf(aggregate, scopeOf(aggregate), asked, atLeast);
      return known ?? claims.holderOf(aggregate, scopeOf(aggregate), asked);
    },
  };
}
