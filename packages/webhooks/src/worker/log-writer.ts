import { createStreams, type EventStore, systemContext } from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { Problem } from '@counterfoil/kernel';
import { disableEndpoint, reportExhausted } from '../endpoint/decisions.ts';
import { type ExhaustedMessage, webhookEndpoint } from '../endpoint/endpoint.ts';
import type { DisableReason } from '../queue/health.ts';

/** An endpoint as the log has it. */
export interface EndpointAddress {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly environmentId: string;
}

/** The worker's own writes into the log. Doing one twice is doing it once. */
export interface LogWriter {
  /** Disables an endpoint. Nothing happens when it is disabled or gone. */
  disable(address: EndpointAddress, reason: DisableReason): Promise<void>;
  /** Tells that deliveries were given up. `report` is the last of their places in the list. */
  report(
    address: EndpointAddress,
    report: string,
    messages: readonly ExhaustedMessage[],
  ): Promise<void>;
}

/** The endpoint has been deleted meanwhile: there is nobody left to tell. */
const isGone = (error: unknown): boolean => error instanceof Problem && error.code === 'not_found';

/** Makes the log writer over a store that stays the caller's. */
export function createLogWriter(store: EventStore): LogWriter {
  const streams = createStreams({ store, aggregates: [webhookEndpoint] });
  const write = async (
    { endpointId, tenantId, environmentId }: EndpointAddress,
    decision: ReturnType<typeof disableEndpoint>,
  ): Promise<void> => {
    const context = systemContext(streams, {
      tenantId: tenantId as TenantId,
      environmentId: environmentId as EnvironmentId,
      correlationId: 'webhooks',
    });
    try {
      await context.execute(webhookEndpoint, endpointId, decision);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  };
  return {
    disable: (address, reason) => write(address, disableEndpoint(address.endpointId, reason)),
    report: (address, report, messages) =>
      write(address, reportExhausted(address.endpointId, report, messages)),
  };
}
