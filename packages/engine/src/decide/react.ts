import type { EnvironmentId, EventCatalogue, EventOf } from '@counterfoil/kernel';
import type { Reaction, ReactionEvent } from '../define/reaction.ts';
import type { Position } from '../log/types.ts';
import { placeOf } from '../stream-cache/stream-state.ts';
import type { Streams } from './streams.ts';
import { type WorkReads, workContext } from './work-context.ts';

/** The circumstances of handling an event, which differ between a request and the projector. */
interface Circumstances extends WorkReads {
  readonly correlationId: string;
  readonly causationId: string;
  readonly onWritten?: (position: Position) => void;
  readonly loadsUpTo?: () => Position;
}

/**
 * Handles an event on behalf of the one who caused it. Keys and ids follow from the reaction's name
 * and from the event's place in the log alone, so that any process does the same, however often it
 * is done.
 */
export async function react(
  streams: Streams,
  { name, aggregate, on }: Reaction,
  event: ReactionEvent<EventOf<EventCatalogue>>,
  { reader, factsOf, onWritten, loadsUpTo, ...caused }: Circumstances,
): Promise<void> {
  const handle = Object.hasOwn(on, event.type) ? on[event.type] : undefined;
  if (!handle) return;
  const { tenant_id: tenantId, environment_id, actor } = event.stamp;
  const environmentId = environment_id ?? (tenantId as string as EnvironmentId);
  const owner = aggregate.scope === 'tenant' ? tenantId : environmentId;
  const place = placeOf(aggregate, owner, event.aggregate_id);
  const context = workContext(
    streams,
    { tenantId, environmentId, actor, ...caused },
    {
      reader,
      factsOf,
      occasion: { job: `reaction ${name}`, key: `${place.name}@${event.revision}` },
      ...(onWritten ? { onWritten } : {}),
      ...(loadsUpTo ? { loadsUpTo } : {}),
    },
  );
  await handle(event, context);
}
