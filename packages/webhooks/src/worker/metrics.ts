import type { Metrics } from '@counterfoil/engine';
import type { Figures } from '../queue/figures-store.ts';
import type { FollowUp } from '../sending/retry.ts';
import type { Sent } from '../sending/sender.ts';

/** From a moment on the same machine to the end of the retries. */
const deliveryBuckets = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600, 21_600, 86_400, 273_600,
];

/** The figures that the worker counts. */
export interface WorkerMetrics {
  readonly messages: { inc(count: number): void };
  /** Messages that were no longer kept when they were to be read. */
  readonly missed: { inc(count: number): void };
  readonly reclaimed: { inc(count: number): void };
  /** Counts an attempt of a delivery that was queued at an instant. */
  attempt(sent: Sent, followUp: FollowUp, queuedAt: string): void;
  figures(figures: Figures): void;
  inFlight(count: number): void;
}

/** `2xx` for an answer, else why there was none. */
const outcomeOf = ({ result }: Sent): string =>
  result.kind === 'answer' ? `${Math.floor(result.status / 100)}xx` : result.reason;

/** Registers the figures of a worker. */
export function createWorkerMetrics(metrics: Metrics): WorkerMetrics {
  const attempts = metrics.counter({
    name: 'counterfoil_webhook_attempts_total',
    help: 'Attempts by answer class or reason of failure',
    labels: ['outcome'],
  });
  const results = metrics.counter({
    name: 'counterfoil_webhook_deliveries_total',
    help: 'What attempts led to: delivered, retry or exhausted',
    labels: ['result'],
  });
  const delay = metrics.histogram({
    name: 'counterfoil_webhook_delivery_seconds',
    help: 'From the queue to the 2xx answer',
    buckets: deliveryBuckets,
  });
  const depth = metrics.gauge({
    name: 'counterfoil_webhook_queue_depth',
    help: 'Deliveries that are not finished, by state',
    labels: ['state'],
  });
  const oldest = metrics.gauge({
    name: 'counterfoil_webhook_oldest_due_seconds',
    help: 'How long the oldest due delivery has been waiting to be sent',
  });
  const endpoints = metrics.gauge({
    name: 'counterfoil_webhook_endpoints',
    help: 'Enabled endpoints by the state of their breaker; open: held back for their failures',
    labels: ['breaker'],
  });
  const unread = metrics.gauge({
    name: 'counterfoil_webhook_unread_messages',
    help: 'Messages of the public stream that have not been turned into deliveries',
  });
  const sending = metrics.gauge({
    name: 'counterfoil_webhook_in_flight',
    help: 'Requests of this process that are under way',
  });
  return {
    messages: metrics.counter({
      name: 'counterfoil_webhook_messages_total',
      help: 'Messages of the public stream that have been turned into deliveries, or into none',
    }),
    missed: metrics.counter({
      name: 'counterfoil_webhook_messages_missed_total',
      help: 'Messages that the public stream no longer kept when they were to be read',
    }),
    reclaimed: metrics.counter({
      name: 'counterfoil_webhook_leases_expired_total',
      help: 'Deliveries whose worker ended before it could record the outcome',
    }),
    attempt: (sent, followUp, queuedAt) => {
      attempts.inc({ outcome: outcomeOf(sent) });
      results.inc({ result: followUp.kind });
      if (followUp.kind !== 'delivered') return;
      delay.observe(Math.max(0, Date.now() - Date.parse(queuedAt)) / 1000);
    },
    figures: (figures) => {
      for (const [state, count] of Object.entries(figures.deliveries)) depth.set({ state }, count);
      for (const [breaker, count] of Object.entries(figures.endpoints)) {
        endpoints.set({ breaker }, count);
      }
      oldest.set(figures.oldestDueSeconds);
      unread.set(figures.unread);
    },
    inFlight: (count) => sending.set(count),
  };
}
