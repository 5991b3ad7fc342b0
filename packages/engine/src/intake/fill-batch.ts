import type { AnyAggregate, EnvironmentId, TenantId } from '@counterfoil/kernel';
import type { AnyFactTables, Filler, RecordChange, RecordedFacts } from '../define/intake.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { categoryPrefix, parseStreamName } from '../log/stream-name.ts';
import type { StoredEvent } from '../log/types.ts';
import { categoryOf } from '../projection/fold.ts';
import { factsOf } from './fact-event.ts';

/** An item of a batch, as the tables of facts take it. */
export type FillItem = RecordedFacts<unknown> | RecordChange;

/** The streams that some tables of facts are filled from, by prefix. */
export const fillPrefixes = ({ intake, records }: AnyFactTables): readonly string[] =>
  [intake, ...records].map(({ name }) => categoryPrefix(name));

/** Tells of items whether what facts count as may depend on them. */
export function bearsOn(tables: AnyFactTables): (item: FillItem) => boolean {
  const names = namesAside(tables);
  return (item) => item.kind === 'facts' || !names.has(item.event.aggregate);
}

/** Tells of events of the log whether what facts count as does not depend on them: they have time, and need not be told apart. */
export function isAside(tables: AnyFactTables): (event: StoredEvent) => boolean {
  const names = namesAside(tables);
  return ({ stream }) => names.has(categoryOf(stream));
}

const namesAside = ({ aside = [] }: AnyFactTables): ReadonlySet<string> =>
  new Set<string>(aside.map(({ name }) => name));

/** Tells of events of the log that a filler passes them by, as its tables stand. */
export const passedBy =
  (filler: Filler<unknown>) =>
  ({ stream, type }: StoredEvent): boolean =>
    filler.passesBy?.(categoryOf(stream), type) ?? false;

/** Makes the decoder of the events that some tables of facts take; the others are left out. */
export function fillDecoder({
  intake,
  records,
}: AnyFactTables): (events: readonly StoredEvent[]) => readonly FillItem[] {
  const aggregates = new Map<string, AnyAggregate>(records.map((one) => [one.name, one]));
  return (events) =>
    events.flatMap((event): FillItem | readonly FillItem[] => {
      const parts = parseStreamName(event.stream);
      if (!parts) return [];
      const { tenant_id, environment_id, occurred_at } = event.metadata;
      if (environment_id === null) return [];
      const place = {
        tenantId: tenant_id as TenantId,
        environmentId: environment_id as EnvironmentId,
      };
      const position = String(event.position);
      if (parts.category === intake.name) {
        return {
          kind: 'facts',
          ...place,
          position,
          recordedAt: occurred_at,
          facts: factsOf(event),
        };
      }
      const aggregate = aggregates.get(parts.category);
      if (!aggregate || !belongsTo(aggregate, event)) return [];
      const recorded = {
        ...stampedEvent(aggregate, event),
        aggregate: aggregate.name,
        event_id: event.id,
        aggregate_id: parts.id,
        revision: event.revision,
        position,
      };
      return { kind: 'record', ...place, event: recorded as RecordChange['event'] };
    });
}
