import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { headerReferences } from './openapi-parts.ts';
import type { PlacedRoute } from './routing.ts';

/** The statuses that any request can fail with. */
const commonStatuses = [400, 401, 404, 429, 500, 503];

/** Those that a kind of request can fail with beside them. An action is a write without a body. */
const furtherStatuses = {
  Read: [],
  Action: [409, 412],
  Write: [408, 409, 412, 413, 415],
} as const;

function kindOf({ method, route }: PlacedRoute): keyof typeof furtherStatuses {
  if (method === 'GET') return 'Read';
  return route.body ? 'Write' : 'Action';
}

const statusesOf = (placed: PlacedRoute): number[] =>
  [
    ...commonStatuses,
    ...furtherStatuses[kindOf(placed)],
    ...(placed.route.permission ? [403] : []),
  ].sort();

/** The name of the answer that routes of a kind have in common when they fail. */
const failureName = (placed: PlacedRoute): string =>
  `${placed.route.permission ? '' : 'Open'}${kindOf(placed)}Failure`.replace('Write', '');

/** A reference to the answer of a route that fails. */
export const failureReference = (placed: PlacedRoute) => ({
  $ref: `#/components/responses/${failureName(placed)}`,
});

function failureResponse(statuses: readonly number[]): ZodOpenApiResponseObject {
  const failure = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      {
        properties: {
          http_status_code: { enum: [...statuses] },
        },
      },
    ],
  };
  return {
    description: 'It failed',
    headers: headerReferences(['Retry-After']),
    content: { 'application/json': { schema: failure } },
  };
}

/** The answers that routes refer to when they fail, by name. */
export const failureResponses = (
  routes: readonly PlacedRoute[],
): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(
    routes.map((placed) => [failureName(placed), failureResponse(statusesOf(placed))]),
  );
