import { BrokenInvariant } from '@counterfoil/kernel';
import type { HttpOptions, HttpServer } from './host.ts';
import { createHttpServer } from './server.ts';

const noRoutes = (): never => {
  throw new BrokenInvariant('a process without routes was asked to handle one');
};

/** The HTTP side of a process that serves no API: /healthz, /readyz and /metrics. */
export const createServiceServer = (
  options: Pick<HttpOptions, 'health' | 'metrics' | 'log' | 'info'>,
): HttpServer =>
  createHttpServer({
    ...options,
    modules: [],
    authenticate: () => null,
    host: { begin: noRoutes },
  });
