import type { RequestHandler } from 'express';
import { compileEndpoint, type Endpoint } from './endpoint.ts';
import { exchangeOf } from './exchange.ts';
import type { HttpSettings } from './host.ts';
import { indexPaths } from './path-index.ts';
import { otherMethods } from './paths.ts';
import { type PlacedRoute, routesByPath } from './routing.ts';
import {
  type AsyncStep,
  answerWith,
  arriveAt,
  authenticate,
  authorise,
  checkContentType,
  checkStreamType,
  inOrder,
  readBytes,
  readJson,
  type Step,
} from './steps.ts';
import type { Traffic } from './traffic.ts';
import type { Turns } from './turns.ts';

interface RouteOptions {
  readonly settings: HttpSettings;
  readonly traffic: Traffic;
  readonly turns: Turns;
  readonly limitRate: Step;
}

/** The answers of one path: to each method that it has, and to all others. */
interface Answers {
  readonly byMethod: ReadonlyMap<string, RequestHandler>;
  readonly otherwise: Step;
}

const prefix = '/v1';

/**
 * Makes the step that answers requests to the routes, and for each path those with methods that it does not have.
 * It is one for all routes: Express itself would try one path after the other.
 */
export function routesOf(
  placed: readonly PlacedRoute[],
  { settings, traffic, turns, limitRate }: RouteOptions,
): Step {
  const identifyCaller = authenticate(settings);
  const parseBody = readJson(turns);
  const answer = answerWith({ ...settings, turns });

  // The steps of every request to a route, in order.
  const stepsOf = (endpoint: Endpoint): readonly AsyncStep[] => [
    arriveAt(endpoint),
    identifyCaller,
    limitRate,
    traffic.share,
    authorise,
    ...(endpoint.route.streams ? streamSteps(endpoint.route.streams) : bodySteps(endpoint)),
    answer,
  ];

  const bodySteps = ({ bodyLimitBytes }: Endpoint): readonly AsyncStep[] => [
    checkContentType,
    traffic.makeRoom,
    traffic.receive,
    readBytes(bodyLimitBytes),
    traffic.admit,
    traffic.takeTurn,
    parseBody,
  ];

  // The body is read by the handler, as fast as it takes it.
  const streamSteps = (types: readonly string[]): readonly AsyncStep[] => [
    checkStreamType(types),
    traffic.admit,
    traffic.takeTurn,
  ];

  const answersOf = (siblings: readonly PlacedRoute[]): Answers => ({
    byMethod: new Map(
      siblings.map((sibling) => [
        sibling.method,
        inOrder(stepsOf(compileEndpoint(sibling, settings))),
      ]),
    ),
    otherwise: otherMethods(siblings.map(({ method }) => method)),
  });

  const answersAt = indexPaths(
    [...routesByPath(placed)].map(([path, siblings]) => [prefix + path, answersOf(siblings)]),
  );

  return (request, response, next) => {
    const found = answersAt(request.path);
    if (found === null) {
      next();
      return;
    }
    const { standing, parameters } = found;
    exchangeOf(response).parameters = parameters;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handle = standing.byMethod.get(method) ?? standing.otherwise;
    handle(request, response, next);
  };
}
