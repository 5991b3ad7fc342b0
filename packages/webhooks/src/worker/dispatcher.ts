import type { Log } from '@counterfoil/engine';
import { type Claimed, claimDeliveries } from '../queue/claim.ts';
import { hasPending } from '../queue/open-deliveries.ts';
import { type Destination, type OutgoingRequest, requestOf } from '../sending/request.ts';
import { followUpOf, type RetryPolicy } from '../sending/retry.ts';
import type { Sender, SendLimits, Sent } from '../sending/sender.ts';
import type { AttemptWriter } from './attempt-writer.ts';
import { createBulkhead } from './bulkhead.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type Loop, type LoopOptions, startLoop, untilNext } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';
import { createNotifier } from './notifier.ts';

/** The parts and the bounds of a dispatcher. */
export interface DispatcherOptions extends LoopOptions {
  readonly endpoints: EndpointCache;
  readonly sender: Sender;
  readonly writer: AttemptWriter;
  readonly retry: RetryPolicy;
  readonly metrics: WorkerMetrics;
  /** Requests under way at the same time at most, and as many again that take long to answer. */
  readonly maximumInFlight: number;
  /** Milliseconds after which a request counts as one that takes long. */
  readonly slowAfterMs: number;
  readonly leaseMs: number;
  /** The time that a request may take; within it a claim must not expire. */
  readonly sendLimits: SendLimits;
  /**
   * The interval at which the queue is looked at when nothing says that there is something to do.
   */
  readonly pollMs: number;
}

/** Claims deliveries that are due and sends them. */
export interface Dispatcher {
  readonly loop: Loop;
  /** Says that something may be due. */
  notify(): void;
  inFlight(): number;
  /** Resolves when nothing is under way any more. To be called when the loop has ended. */
  drained(): Promise<void>;
}

type DestinationOf = (endpointId: string) => Destination;

/** Deliveries that one claim takes at most. */
const claimMaximum = 256;
/**
 * An empty queue is looked at so much more seldom: whatever this process brings in is told, and what another one does,
 * that one sends as well.
 */
const emptyPolls = 4;

/** Starts to claim due deliveries and to send them, as many as may be under way. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { endpoints, metrics, maximumInFlight, slowAfterMs, pollMs } = options;
  const { leaseMs, sendLimits, log } = options;
  const notifier = createNotifier();
  const bulkhead = createBulkhead({
    maximumQuick: maximumInFlight,
    maximumSlow: maximumInFlight,
    slowAfterMs,
  });
  const onEnd = (): void => {
    metrics.inFlight(bulkhead.size());
    notifier.notify();
  };
  const loop = startLoop(options, async ({ connection, signal, succeeded }) => {
    while (!signal.aborted) {
      const limit = Math.min(claimMaximum, bulkhead.room());
      const claimedAt = performance.now();
      const isFull = limit <= 0;
      const isEmpty = !isFull && !(await hasPending(connection));
      const claimed =
        isFull || isEmpty ? [] : await claimDeliveries(connection, { limit, leaseMs });
      const destinationOf = await endpoints.destinations(
        connection,
        claimed.map(({ endpoint }) => endpoint),
      );
      // A process that stood still, or its database, may find that others have them by now.
      const isLate = performance.now() - claimedAt > leaseMs - sendLimits.totalTimeout;
      if (isLate && claimed.length > 0) {
        log.warn({ deliveries: claimed.length }, 'webhooks: claims came too late to be used');
      }
      for (const one of isLate ? [] : claimed) {
        bulkhead.run(one.endpointId, (cut) => deliver(one, destinationOf, options, cut), onEnd);
      }
      metrics.inFlight(bulkhead.size());
      succeeded();
      if (isFull || claimed.length < limit) {
        await notifier.wait(untilNext(isEmpty ? pollMs * emptyPolls : pollMs), signal);
      }
    }
  });
  return { loop, notify: notifier.notify, inFlight: bulkhead.size, drained: bulkhead.drained };
}

/** Sends one delivery and records the outcome. Never throws. */
async function deliver(
  claimed: Claimed,
  destinationOf: DestinationOf,
  options: DispatcherOptions,
  cut: AbortSignal,
): Promise<void> {
  const { sender, retry, writer, metrics, log } = options;
  const outgoing = prepare(claimed, destinationOf, log);
  const sent = outgoing === null ? notMade : await sender.send(outgoing, cut);
  const followUp = followUpOf(sent.result, claimed.failures + 1, retry, Math.random());
  metrics.attempt(sent, followUp, claimed.queuedAt);
  await writer.record({ delivery: claimed, sent, followUp });
}

const notMade: Sent = {
  result: { kind: 'failure', reason: 'sealed' },
  detail: 'The request could not be made: its secret or its body cannot be read.',
  milliseconds: 0,
  address: null,
};

/** The request; null when it cannot be made, which must not keep others from being sent. */
function prepare(claimed: Claimed, destinationOf: DestinationOf, log: Log): OutgoingRequest | null {
  const { endpointId, eventId } = claimed;
  try {
    return requestOf(claimed, destinationOf(endpointId), Date.now());
  } catch (error) {
    const what = { err: error, endpoint: endpointId, message: eventId };
    log.error(what, 'webhooks: a request cannot be made');
    return null;
  }
}
