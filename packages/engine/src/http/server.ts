import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import express, { type Express } from 'express';
import type { Module } from '../define/module.ts';
import type { RouteKey } from '../define/route.ts';
import { answerMessagesWith } from './answer-message.ts';
import { type Connections, createConnections } from './connections.ts';
import { crossOrigin } from './cross-origin.ts';
import { mountDocumentation } from './documentation.ts';
import { compileEndpoint, type Endpoint } from './endpoint.ts';
import { failureHandler } from './failure.ts';
import type { HttpOptions, HttpServer, HttpSettings } from './host.ts';
import { httpDefaults, tenantTurns } from './limits.ts';
import { mountNotices } from './notices.ts';
import { createRateCounter, limitRateWith } from './rate-limit.ts';
import { routesOf } from './routes.ts';
import { type PlacedRoute, placeRoutes } from './routing.ts';
import { secureAnswer } from './security-headers.ts';
import { mountServiceRoutes } from './service-routes.ts';
import { identify, inOrder, type Step } from './steps.ts';
import { carryOutWith, takeOverWith } from './take-over.ts';
import { createTraffic } from './traffic.ts';
import { createTurns } from './turns.ts';

/** Makes the HTTP server of all routes. It serves nothing before `listen`. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const settings: HttpSettings = {
    validateResponses: process.env.NODE_ENV === 'test',
    ...httpDefaults,
    ...options,
  };
  const placed = placeRoutes(options.modules);
  const inner = placeRoutes(options.modules.map(operationsOnly));
  const countRate = createRateCounter(settings.rateLimit);
  const limitRate = limitRateWith(countRate);
  const turns = createTurns(tenantTurns);
  const withEndpoints = {
    ...settings,
    turns,
    endpointOf: endpointsOf([...placed, ...inner], settings),
  };
  const carryOut = carryOutWith(withEndpoints);

  const createApplication = (connections: Connections): Express => {
    const application = bareApplication();
    const traffic = createTraffic({ ...settings, turns }, connections);
    // The steps of every request, in order, and first of all that is asked for what is asked for most. They are one
    // handler, because Express goes through a list of its handlers for each request.
    application.use(
      inOrder([
        identify,
        traffic.watch,
        secureAnswer,
        crossOrigin(settings.corsOrigins),
        routesOf(placed, { settings, traffic, turns, limitRate }),
      ]),
    );
    mountServiceRoutes(application, { ...settings, isClosing: connections.isClosing });
    mountNotices(application, settings);
    mountDocumentation(application, options);
    application.use(unknownPath);
    application.use(failureHandler(options.log));
    return application;
  };

  const connections = createConnections(createApplication, settings.requestTimeoutMs);
  return {
    listen: connections.listen,
    close: connections.close,
    carryOut: takeOverWith(withEndpoints, carryOut),
    answerMessage: answerMessagesWith({ ...withEndpoints, countRate, carryOut }),
    routeKeys: placed.map(({ key }) => key),
  };
}

/** A module as if its operations were all its routes. */
const operationsOnly = (module: Module): Module => ({
  ...module,
  routes: module.operations ?? {},
});

/** The endpoints by route, each compiled when it is first asked for. */
function endpointsOf(placed: readonly PlacedRoute[], settings: HttpSettings) {
  const known = new Map<RouteKey, Endpoint>();
  return (route: RouteKey): Endpoint | null => {
    const compiled = known.get(route);
    if (compiled) return compiled;
    const found = placed.find(({ key }) => key === route);
    if (!found) return null;
    const made = compileEndpoint(found, settings);
    known.set(route, made);
    return made;
  };
}

function bareApplication(): Express {
  const application = express();
  application.disable('x-powered-by');
  application.disable('etag');
  application.disable('query parser');
  application.enable('case sensitive routing');
  return application;
}

const unknownPath: Step = (request) => {
  const path = request.path.slice(0, 256);
  throw new Problem('unknown_path', `There is nothing at ${path}. All paths are listed at /docs.`);
};

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
