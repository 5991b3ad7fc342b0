import { createStreams, type EventStore, sleep, systemContext } from '@counterfoil/engine';
import { type EnvironmentId, Problem, type TenantId } from '@counterfoil/kernel';
import { disableEndpoint, reportExhausted } from '../endpoint/decisions.ts';
import {
  type EndpointDecision,
  type ExhaustedMessage,
  webhookEndpoint,
} from '../endpoint/endpoint.ts';
import { crossOffReports, type ListedReport, readReports } from '../queue/giving-up.ts';
import type { BreakerPolicy } from '../queue/health.ts';
import { failingEndpoints } from '../queue/health-store.ts';
import { tryHold } from '../queue/queue-lock.ts';
import { type Loop, type LoopOptions, startLoop, untilNext } from './loop.ts';

/** The parts of the loop that writes into the log. */
export interface ReportsOptions extends LoopOptions {
  /** Receives the events. It stays the caller's. */
  readonly store: EventStore;
  readonly breaker: BreakerPolicy;
  /** Milliseconds between two passes. */
  readonly intervalMs: number;
}

/**
 * Starts to write the reports that the log has to have: endpoints that are disabled, messages that
 * were given up. It has a loop of its own, because the queue must keep running while the event
 * store is away. One of all workers does it: two that took different parts of the list at the same
 * time would tell some twice.
 */
export function startReports({ store, breaker, intervalMs, ...options }: ReportsOptions): Loop {
  const decide = createDecide(store);
  return startLoop(options, async ({ connection, signal, succeeded }) => {
    while (!signal.aborted && !(await tryHold(connection, 'reports'))) {
      succeeded();
      await sleep(untilNext(intervalMs), signal);
    }
    while (!signal.aborted) {
      // At once, for mostly both find nothing.
      const [failing, listed] = await Promise.all([
        failingEndpoints(connection, breaker),
        readReports(connection),
      ]);
      for (const endpoint of failing) {
        await decide(endpoint, disableEndpoint(endpoint.endpointId, endpoint.reason));
      }
      for (const reports of batchesOf(listed)) {
        const last = reports.at(-1);
        if (last === undefined) continue;
        const messages = reports.map(({ message }) => JSON.parse(message) as ExhaustedMessage);
        await decide(last, reportExhausted(last.endpointId, last.id, messages));
        await crossOffReports(connection, last);
      }
      succeeded();
      await sleep(untilNext(intervalMs), signal);
    }
  });
}

interface EndpointAddress {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly environmentId: string;
}

type Decide = (endpoint: EndpointAddress, decision: EndpointDecision) => Promise<void>;

/**
 * Returns a function that carries out a decision about an endpoint, unless the endpoint has been
 * deleted.
 */
function createDecide(store: EventStore): Decide {
  const streams = createStreams({ store, aggregates: [webhookEndpoint] });
  return async ({ endpointId, tenantId, environmentId }, decision) => {
    const context = systemContext(streams, {
      tenantId: tenantId as TenantId,
      environmentId: environmentId as EnvironmentId,
      correlationId: 'webhooks',
    });
    try {
      await context.execute(webhookEndpoint, endpointId, decision);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    }
  };
}

/** Messages in one event of the log at most. */
const messagesMaximum = 50;

/** The reports of each endpoint, cut to what one event may hold. */
function batchesOf(reports: readonly ListedReport[]): readonly (readonly ListedReport[])[] {
  const byEndpoint = Map.groupBy(reports, ({ endpointId }) => endpointId);
  return [...byEndpoint.values()].map((listed) => listed.slice(0, messagesMaximum));
}
