import { type Express, type RequestHandler, Router } from 'express';
import { compileEndpoint, type Endpoint } from './endpoint.ts';
import type { HttpSettings } from './host.ts';
import { otherMethods } from './paths.ts';
import { expressPath, type PlacedRoute, routesByPath } from './routing.ts';
import {
  answerWith,
  arriveAt,
  authenticate,
  authorise,
  checkContentType,
  readBytes,
  readJson,
} from './steps.ts';
import type { Traffic } from './traffic.ts';

interface MountOptions {
  readonly settings: HttpSettings;
  readonly traffic: Traffic;
  readonly limitRate: RequestHandler;
}

const prefix = '/v1/';

const methodNames = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
} as const;

/** Mounts the routes, and for each path the answer to methods that it does not have. */
export function mountRoutes(
  application: Express,
  placed: readonly PlacedRoute[],
  { settings, traffic, limitRate }: MountOptions,
): void {
  const identifyCaller = authenticate(settings);
  const answer = answerWith(settings);

  // The steps of every request to a route, in order.
  const stepsOf = (endpoint: Endpoint): RequestHandler[] => [
    arriveAt(endpoint),
    identifyCaller,
    limitRate,
    traffic.share,
    authorise,
    checkContentType,
    traffic.receive,
    readBytes(endpoint.bodyLimitBytes),
    traffic.admit,
    traffic.takeTurn,
    readJson,
    traffic.takeTurnAgain,
    answer,
  ];

  const routers = new Map<string, Router>();
  for (const [path, siblings] of routesByPath(placed)) {
    const mounted = routerFor(routers, firstSegment(path)).route(expressPath(`/v1${path}`));
    for (const sibling of siblings) {
      const endpoint = compileEndpoint(sibling, settings);
      mounted[methodNames[endpoint.method]](...stepsOf(endpoint));
    }
    mounted.all(otherMethods(siblings.map(({ method }) => method)));
  }
  application.use(dispatchTo(routers));
}

const firstSegment = (path: string): string => {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? path.length : end);
};

function routerFor(routers: Map<string, Router>, segment: string): Router {
  const known = routers.get(segment);
  if (known) return known;
  const made = Router({ caseSensitive: true });
  routers.set(segment, made);
  return made;
}

/**
 * Express tries one path after the other. With a router for each first segment it only tries the paths
 * of one resource, however many routes there are.
 */
const dispatchTo =
  (routers: ReadonlyMap<string, Router>): RequestHandler =>
  (request, response, next) => {
    const { path } = request;
    const router = path.startsWith(prefix)
      ? routers.get(firstSegment(path.slice(prefix.length - 1)))
      : undefined;
    if (router) router(request, response, next);
    else next();
  };
