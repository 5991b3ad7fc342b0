import type {
  Aggregate,
  Decision,
  EnvironmentId,
  EventCatalogue,
  EventOf,
  TenantId,
} from '@counterfoil/kernel';
import type { Prepared, RequestContext } from '../define/context.ts';
import type { Position } from '../log/types.ts';
import { type RawEvent, runPrepared } from './command.ts';
import type { Streams } from './streams.ts';

/** The tenant and environment in which the service itself acts, without a caller. */
export interface SystemScope {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  /** The name that correlates the events, such as that of the job. */
  readonly correlationId: string;
}

/**
 * A context that acts for the service itself: its events have no user and no key. `onWritten` is
 * told the position of what was written.
 */
export function systemContext(
  streams: Streams,
  scope: SystemScope,
  onWritten: (position: Position) => void = () => undefined,
): Pick<RequestContext, 'execute'> {
  return {
    async execute<Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
      decision: Prepared<Decision<State, EventOf<Catalogue>>>,
    ) {
      const isOfTenant = aggregate.scope === 'tenant';
      const place = isOfTenant ? scope.tenantId : scope.environmentId;
      const any = aggregate as unknown as Aggregate<string, EventCatalogue, unknown>;
      const writer = streams.writer<State>(any, place, id);
      const outcome = await runPrepared(writer, decision as Prepared<Decision<State, RawEvent>>, {
        cause: {
          tenantId: scope.tenantId,
          environmentId: isOfTenant ? null : scope.environmentId,
          actor: { user_id: null, key_id: null },
          correlationId: scope.correlationId,
          causationId: scope.correlationId,
        },
        fingerprint: null,
        expectedRevision: null,
      });
      if (outcome.events.length > 0) onWritten(outcome.position);
      return outcome as never;
    },
  };
}
