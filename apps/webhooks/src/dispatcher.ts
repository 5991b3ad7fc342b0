import type { Log } from '@counterfoil/engine';
import {
  type OutgoingRequest,
  type RetryPolicy,
  type Sender,
  type SendLimits,
  type Sent,
  signedHeaders,
  verdictOf,
} from '@counterfoil/modules';
import { type Claimed, claimDeliveries } from './claim.ts';
import { type Destination, type Endpoints, secretsAt } from './endpoints.ts';
import { type Loop, type LoopOptions, startLoop } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';
import { waitForReadModel } from './read-model.ts';
import type { Recorder } from './recorder.ts';
import { thinBody } from './thin-body.ts';
import { createUnderWay } from './under-way.ts';
import { createWake } from './wake.ts';

export interface DispatcherOptions extends LoopOptions {
  readonly endpoints: Endpoints;
  readonly sender: Sender;
  readonly recorder: Recorder;
  readonly retry: RetryPolicy;
  readonly metrics: WorkerMetrics;
  /** Requests under way at the same time at most, and as many again that take long to answer. */
  readonly maximumInFlight: number;
  /** Milliseconds after which a request counts as one that takes long. */
  readonly slowAfterMs: number;
  readonly leaseMs: number;
  /** How long a request may take; within it a claim must not expire. */
  readonly sendLimits: SendLimits;
  /** How often the queue is looked at when nothing says that there is something to do. */
  readonly pollMs: number;
}

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
const userAgent = 'Counterfoil-Webhooks/1';

/** Starts to take what is due and to send it, as much as may be under way. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { endpoints, metrics, maximumInFlight, slowAfterMs, pollMs } = options;
  const { leaseMs, sendLimits, log } = options;
  const wake = createWake();
  const underWay = createUnderWay({
    maximumQuick: maximumInFlight,
    maximumSlow: maximumInFlight,
    slowAfterMs,
  });
  const onEnd = (): void => {
    metrics.inFlight(underWay.size());
    wake.notify();
  };
  const loop = startLoop(options, async ({ connection, signal, succeeded }) => {
    await waitForReadModel(connection, signal);
    while (!signal.aborted) {
      const limit = Math.min(claimMaximum, underWay.room());
      const claimedAt = performance.now();
      const claimed = limit > 0 ? await claimDeliveries(connection, { limit, leaseMs }) : [];
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
        underWay.run(one.endpointId, (cut) => deliver(one, destinationOf, options, cut), onEnd);
      }
      metrics.inFlight(underWay.size());
      succeeded();
      if (claimed.length < limit || limit <= 0) await wake.wait(pollMs, signal);
    }
  });
  return { loop, notify: wake.notify, inFlight: underWay.size, drained: underWay.drained };
}

/** Sends one delivery and records what came of it. Never throws. */
async function deliver(
  claimed: Claimed,
  destinationOf: DestinationOf,
  options: DispatcherOptions,
  cut: AbortSignal,
): Promise<void> {
  const { retry, recorder, metrics } = options;
  const sent = await send(claimed, destinationOf, options, cut);
  const verdict = verdictOf(sent.result, claimed.failures + 1, retry, Math.random());
  metrics.attempt(sent, verdict, claimed.occurredAt);
  await recorder.record({ delivery: claimed, sent, verdict });
}

async function send(
  claimed: Claimed,
  destinationOf: DestinationOf,
  { sender, log }: DispatcherOptions,
  cut: AbortSignal,
): Promise<Sent> {
  const outgoing = prepare(claimed, destinationOf, log);
  if (outgoing !== null) return await sender.send(outgoing, cut);
  const detail = 'The request could not be made: its secret or its body cannot be read.';
  return { result: { kind: 'failure', reason: 'sealed' }, detail, milliseconds: 0, address: null };
}

/** The request; null when it cannot be made, which must not keep others from being sent. */
function prepare(claimed: Claimed, destinationOf: DestinationOf, log: Log): OutgoingRequest | null {
  const { endpointId, eventId } = claimed;
  try {
    const destination = destinationOf(endpointId);
    const body = destination.payload === 'thin' ? thinBody(claimed.body) : claimed.body;
    return { url: destination.url, headers: headersOf(claimed, body, destination), body };
  } catch (error) {
    const what = { err: error, endpoint: endpointId, message: eventId };
    log.error(what, 'webhooks: a request cannot be made');
    return null;
  }
}

/** The time is that of this attempt, so that receivers do not take a late one for a replay. */
function headersOf(
  { eventId, attempt }: Claimed,
  body: Uint8Array,
  destination: Destination,
): Readonly<Record<string, string>> {
  const now = Date.now();
  const message = { id: eventId, timestamp: Math.floor(now / 1000), body };
  return {
    ...destination.headers,
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-attempt': String(attempt),
    ...signedHeaders(message, secretsAt(destination, now)),
  };
}
