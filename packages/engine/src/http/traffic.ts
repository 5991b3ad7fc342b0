import { Problem } from '@counterfoil/kernel';
import type { Request, Response } from 'express';
import type { Log } from '../operations/log.ts';
import { durationBuckets, type Metrics } from '../operations/metrics.ts';
import type { Connections } from './connections.ts';
import { exchangeOf } from './exchange.ts';
import { sendProblem } from './respond.ts';
import type { Step } from './steps.ts';

interface TrafficOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly requestTimeoutMs: number;
  readonly maximumInFlight: number;
}

/** Status in logs and metrics for a caller that disconnected before the answer. */
const clientClosed = 499;
const maximumLoggedPath = 256;

const pathOf = (request: Request): string => {
  const { originalUrl } = request;
  const mark = originalUrl.indexOf('?');
  return originalUrl.slice(0, Math.min(mark < 0 ? originalUrl.length : mark, maximumLoggedPath));
};

/** Ends a request whose time is up. Its effect, if any, is in the log, where a repetition finds it. */
function onDeadline(response: Response): void {
  const message =
    'The request took too long. Its effect is unknown; repeat it with the same Idempotency-Key.';
  sendProblem(response, new Problem('service_unavailable', message));
}

interface Traffic {
  /**
   * Watches over a request: limits its time, and at its end writes one line of log (no body, no query, no
   * header) and one duration.
   */
  readonly watch: Step;
  /** Refuses a request when too many are under way. */
  readonly admit: Step;
}

/** Makes the steps that watch over every request. */
export function createTraffic(options: TrafficOptions, connections: Connections): Traffic {
  const { metrics, requestTimeoutMs, maximumInFlight } = options;
  const durations = metrics.histogram({
    name: 'counterfoil_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labels: ['route', 'status'],
    buckets: durationBuckets,
  });
  // The lines hold nothing secret, and looking for secrets costs more than writing them.
  const log = options.log.child({}, { redact: [] });
  let inFlight = 0;
  metrics.gauge({
    name: 'counterfoil_http_requests_in_flight',
    help: 'Requests that are being answered',
    collect: (gauge) => gauge.set(inFlight),
  });

  function onClose(this: Response): void {
    const exchange = exchangeOf(this);
    inFlight -= 1;
    if (exchange.deadline) clearTimeout(exchange.deadline);
    const { req: request } = this;
    const status = this.writableFinished ? this.statusCode : clientClosed;
    const milliseconds = performance.now() - exchange.startedAt;
    durations.observe({ route: exchange.label, status }, milliseconds / 1_000);
    const line = {
      request_id: exchange.requestId,
      method: request.method,
      path: pathOf(request),
      route: exchange.label,
      status,
      ms: Math.round(milliseconds * 100) / 100,
      key_id: exchange.principal?.keyId,
      tenant_id: exchange.principal?.tenantId,
      code: exchange.failure ?? undefined,
    };
    if (exchange.isRoutine) log.debug(line, 'request');
    else log.info(line, 'request');
    connections.onAnswered();
  }

  return {
    watch: (_request, response, next) => {
      inFlight += 1;
      response.on('close', onClose);
      if (connections.isClosing()) response.setHeader('Connection', 'close');
      exchangeOf(response).deadline = setTimeout(onDeadline, requestTimeoutMs, response);
      next();
    },
    admit: (_request, _response, next) => {
      if (inFlight <= maximumInFlight) return next();
      const message =
        'The service has too many requests in hand. Repeat after Retry-After seconds.';
      throw new Problem('service_unavailable', message, { retryAfterSeconds: 1 });
    },
  };
}
