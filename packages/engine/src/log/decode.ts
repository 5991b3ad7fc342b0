import type {
  AnyAggregate,
  EnvironmentId,
  EventCatalogue,
  EventOf,
  Instant,
  Stamped,
  TenantId,
} from '@counterfoil/kernel';
import { BrokenInvariant } from '@counterfoil/kernel';
import type { StoredEvent } from './types.ts';

/**
 * Tells whether the event belongs to the aggregate itself. The engine writes a few events of its own
 * into the same streams (see constraints/claims.ts); no fold of the business may see them.
 */
export const belongsTo = (aggregate: AnyAggregate, event: { readonly type: string }): boolean =>
  Object.hasOwn(aggregate.events, event.type);

/** The current version of an event type's data: one more than it has upcasters. */
export const schemaVersion = (aggregate: AnyAggregate, type: string): number =>
  (aggregate.upcasters?.[type]?.length ?? 0) + 1;

/**
 * The event as `evolve` sees it: data lifted to the current version, metadata reduced to the stamp.
 * Throws `BrokenInvariant` on a version that this program does not know: to read it wrongly would be
 * worse than to stop.
 */
export function stampedEvent(
  aggregate: AnyAggregate,
  event: StoredEvent,
): Stamped<EventOf<EventCatalogue>> {
  const { metadata } = event;
  return {
    type: event.type,
    data: wholeData(aggregate, event),
    stamp: {
      tenant_id: metadata.tenant_id as TenantId,
      environment_id: metadata.environment_id as EnvironmentId | null,
      occurred_at: metadata.occurred_at,
      actor: metadata.actor,
    },
  };
}

/** The last data that was completed: several readers of one event come one after the other. */
let completed = { kept: null as unknown, at: '', whole: null as unknown };

function wholeData(aggregate: AnyAggregate, event: StoredEvent): unknown {
  const kept = currentData(aggregate, event);
  const form = aggregate.kept?.[event.type];
  if (!form) return kept;
  const at = event.metadata.occurred_at;
  if (completed.kept !== kept || completed.at !== at) {
    completed = { kept, at, whole: form.complete(kept, at) };
  }
  return completed.whole;
}

/** The form in which the log keeps the data of an event of the aggregate, given what its schema makes of it. */
export function keptData(
  aggregate: AnyAggregate,
  { type, data }: { readonly type: string; readonly data: unknown },
  at: Instant,
): unknown {
  const whole: unknown = aggregate.events[type].parse(data);
  return aggregate.kept?.[type]?.shorten(whole, at) ?? whole;
}

function currentData(aggregate: AnyAggregate, event: StoredEvent): unknown {
  const current = schemaVersion(aggregate, event.type);
  const written = event.metadata.schema_version;
  if (written === current) return event.data;
  if (written > current) {
    throw new BrokenInvariant(
      `${event.stream}@${event.revision}: ${event.type} has version ${written}, known up to ${current}`,
    );
  }
  const upcasters = aggregate.upcasters?.[event.type] ?? [];
  return upcasters
    .slice(written - 1)
    .reduce<unknown>((data, upcast) => upcast(data as never), event.data);
}

/** The state after an event of the aggregate's stream; events of the engine change nothing. */
export const evolveStored = <State>(
  aggregate: AnyAggregate,
  state: State,
  event: StoredEvent,
): State =>
  belongsTo(aggregate, event) ? aggregate.evolve(state, stampedEvent(aggregate, event)) : state;
