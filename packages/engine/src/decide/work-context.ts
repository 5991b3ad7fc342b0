import {
  type Aggregate,
  type AnyAggregate,
  type EventCatalogue,
  type EventOf,
  invariant,
} from '@counterfoil/kernel';
import type { HistoryRange } from '../define/asking-context.ts';
import type { HistoryEvent, Place, Reader } from '../define/context.ts';
import type { FactReads } from '../define/intake.ts';
import type { WorkContext } from '../define/work-context.ts';
import type { FactsOf } from '../intake/fact-reads.ts';
import type { Position } from '../log/types.ts';
import { historyOf } from './history.ts';
import type { Streams } from './streams.ts';
import { type SystemOptions, type SystemScope, systemContext } from './system-context.ts';

/** The reads of work that the service does by itself. */
export interface WorkReads {
  /** Left out where no work reads tables. */
  readonly reader?: ((place: Place) => Reader) | undefined;
  /** Left out where no work reads facts. */
  readonly factsOf?: FactsOf | undefined;
}

/** A context of work that the service does by itself; see `systemContext`. */
export function workContext(
  streams: Streams,
  scope: SystemScope,
  { reader, factsOf, ...options }: SystemOptions & WorkReads = {},
): WorkContext {
  const { tenantId, environmentId } = scope;
  const principal = { tenantId, environmentId };
  const system = systemContext(streams, scope, options);
  const ownerOf = (aggregate: AnyAggregate) =>
    aggregate.scope === 'tenant' ? tenantId : environmentId;
  const read = (): Reader => {
    invariant(reader, 'no tables are read here');
    return reader(principal);
  };
  const factsUpTo = (position: Position | null): FactReads => {
    invariant(factsOf, 'no facts are read here');
    return factsOf(principal, position);
  };
  const records = {
    load: system.load,
    holderOf: (aggregate: AnyAggregate, name: string, value: string) =>
      streams.claims.holderOf(aggregate, ownerOf(aggregate), { name, value }),
    history: <Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
      range?: HistoryRange,
    ) => {
      const any: AnyAggregate = aggregate;
      const events = historyOf(streams.store, any, ownerOf(any), id, range);
      return events as AsyncIterable<HistoryEvent<EventOf<Catalogue>>>;
    },
  };
  const now = streams.clock.now(environmentId);
  return {
    ...system,
    ...records,
    principal,
    now,
    recalled: { ...records, known: system.load },
    get read() {
      return read();
    },
    get facts() {
      return factsUpTo(null);
    },
    part: (wanted) => streams.parts.get(wanted),
    factsByNow: async () => factsUpTo(await streams.store.head()),
    beside: () => ({
      ...systemContext(streams, scope),
      now,
      get read() {
        return read();
      },
    }),
  };
}
