import type { Express, Request, Response } from 'express';
import { createHealth } from '../operations/health.ts';
import type { Metrics } from '../operations/metrics.ts';
import { exchangeOf } from './exchange.ts';
import type { HttpOptions } from './host.ts';
import { sendJson } from './respond.ts';

interface ServiceOptions extends Pick<HttpOptions, 'health' | 'metrics'> {
  /** Whether the server has begun to close. */
  readonly isClosing: () => boolean;
}

const markRoutine =
  (label: string) => (_request: Request, response: Response, next: () => void) => {
    const exchange = exchangeOf(response);
    exchange.label = label;
    exchange.isRoutine = true;
    next();
  };

/** Mounts what machines ask: is the process alive, is it ready, what are its figures. No API key. */
export function mountServiceRoutes(application: Express, options: ServiceOptions): void {
  const closing = {
    name: 'http',
    required: true,
    check: async () => {
      if (options.isClosing()) throw new Error('the server is closing');
    },
  };
  const report = createHealth([closing, ...options.health]);

  application.get('/healthz', markRoutine('GET /healthz'), (_request, response) => {
    sendJson(response, 200, { status: 'ok' });
  });
  application.get('/readyz', markRoutine('GET /readyz'), async (_request, response) => {
    const health = await report();
    if (!health.ready) response.setHeader('Retry-After', '1');
    sendJson(response, health.ready ? 200 : 503, health);
  });
  application.get('/metrics', markRoutine('GET /metrics'), async (_request, response) => {
    await sendMetrics(response, options.metrics);
  });
}

async function sendMetrics(response: Response, { registry }: Metrics): Promise<void> {
  const text = await registry.metrics();
  response.setHeader('Content-Type', registry.contentType);
  response.end(text);
}
