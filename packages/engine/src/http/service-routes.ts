import type { Express, Response } from 'express';
import { createHealth } from '../operations/health.ts';
import type { Metrics } from '../operations/metrics.ts';
import { exchangeOf } from './exchange.ts';
import type { HttpOptions } from './host.ts';
import { mountPage } from './paths.ts';
import { sendJson } from './respond.ts';

interface ServiceOptions extends Pick<HttpOptions, 'health' | 'metrics' | 'openQuestions'> {
  /** Tells whether the server has begun to close. */
  readonly isClosing: () => boolean;
}

/** Mounts /healthz, /readyz, /metrics and the open questions, which need no API key. */
export function mountServiceRoutes(application: Express, options: ServiceOptions): void {
  const closing = {
    name: 'http',
    required: true,
    check: async () => {
      if (options.isClosing()) throw new Error('the server is closing');
    },
  };
  const report = createHealth([closing, ...options.health]);
  const mount = (path: string, answer: (response: Response) => Promise<void> | void): void =>
    mountPage(application, path, (_request, response) => {
      const exchange = exchangeOf(response);
      exchange.label = `GET ${path}`;
      exchange.isRoutine = true;
      return answer(response);
    });

  mount('/healthz', (response) => sendJson(response, 200, { status: 'ok' }));
  mount('/readyz', async (response) => {
    const health = await report();
    if (!health.ready) response.setHeader('Retry-After', '1');
    sendJson(response, health.ready ? 200 : 503, health);
  });
  mount('/metrics', (response) => sendMetrics(response, options.metrics));
  for (const [path, answer] of Object.entries(options.openQuestions ?? {})) {
    mountPage(application, path, (request, response) => {
      exchangeOf(response).label = `GET ${path}`;
      const start = request.url.indexOf('?');
      const query = new URLSearchParams(start < 0 ? '' : request.url.slice(start));
      sendJson(response, 200, answer(Object.fromEntries(query)));
    });
  }
}

async function sendMetrics(response: Response, { registry }: Metrics): Promise<void> {
  const text = await registry.metrics();
  response.setHeader('Content-Type', registry.contentType);
  response.end(text);
}
