import type { Aggregate, AnyAggregate, EventCatalogue } from '@counterfoil/kernel';
import type { ReservationClaims } from '../constraints/claims.ts';
import type { Records } from '../define/asking-context.ts';
import { isRecordId } from '../log/stream-name.ts';
import type { Position } from '../log/types.ts';
import type { Writer } from './command.ts';

interface RecalledOptions {
  readonly claims: Pick<ReservationClaims, 'holderOf'>;
  readonly writerOf: (
    aggregate: AnyAggregate,
    id: string,
  ) => Pick<Writer<unknown>, 'current' | 'seen'>;
  readonly scopeOf: (aggregate: AnyAggregate) => string;
  /** The position up to which the records must be known. */
  readonly atLeast: Position;
}

/**
 * The records as this process knows them, at least up to a position. That there is none is said by the log alone: a record
 * that was made a moment ago elsewhere is found.
 */
export const recalledRecords = (options: RecalledOptions): Records => ({
  async load<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
  ): Promise<State> {
    if (!isRecordId(id)) return aggregate.initial;
    const writer = options.writerOf(aggregate as AnyAggregate, id);
    const known = await writer.seen(options.atLeast);
    const stream = known.recordRevision >= 0 ? known : await writer.current();
    return stream.state as State;
  },

  async holderOf(aggregate, name, value) {
    const { claims, scopeOf, atLeast } = options;
    const asked = { name, value };
    const known = await claims.holderOf(aggregate, scopeOf(aggregate), asked, atLeast);
    return known ?? claims.holderOf(aggregate, scopeOf(aggregate), asked);
  },
});
