import { BrokenInvariant, invariant } from '@counterfoil/kernel';
import type { Histogram } from 'prom-client';
import { z } from 'zod';
import type { RouteKey } from '../define/route.ts';
import { type Parser, parserOf } from './parse.ts';
import { expressPath, type Method, type PlacedRoute } from './routing.ts';

/** A route with everything that can be computed before the first request. */
export interface Endpoint {
  readonly key: RouteKey;
  readonly method: Method;
  /** In the syntax of Express, with /v1. */
  readonly expressPath: string;
  readonly placeholders: readonly string[];
  readonly permission: string | null;
  readonly status: number;
  readonly bodyLimitBytes: number;
  /** True when a body is read at all. */
  readonly takesBody: boolean;
  readonly bodyOptional: boolean;
  readonly parseParams: Parser | null;
  readonly parseQuery: Parser | null;
  readonly parseBody: Parser | null;
  /** The response's schema, when responses are checked. */
  readonly response: z.ZodType | null;
  readonly hasResponse: boolean;
  readonly handle: PlacedRoute['route']['handle'];
  /** Canonical method and path of a request: see `BeginRequest.operation`. */
  readonly operation: (params: Readonly<Record<string, string>>) => string;
}

interface CompileOptions {
  readonly bodyLimitBytes: number;
  readonly validateResponses: boolean;
}

/** The label set of HTTP metrics. */
export type HttpDurations = Histogram<'route' | 'status'>;

/**
 * Compiles a route. Throws `BrokenInvariant` when its parts contradict each other, so that a wrong
 * table of routes cannot start.
 */
export function compileEndpoint(placed: PlacedRoute, options: CompileOptions): Endpoint {
  const { key, method, path, placeholders, route } = placed;
  checkParams(placed);
  invariant(
    (route.status === 204) === (route.response === undefined),
    `${key} must have a response schema, or status 204 and none`,
  );
  invariant(method !== 'GET' || route.body === undefined, `${key} cannot have a body`);
  return {
    key,
    method,
    expressPath: expressPath(`/v1${path}`),
    placeholders,
    permission: route.permission,
    status: route.status,
    bodyLimitBytes: route.bodyLimitBytes ?? options.bodyLimitBytes,
    takesBody: route.body !== undefined,
    bodyOptional: route.bodyOptional ?? false,
    parseParams: route.params ? parserOf(route.params, 'path') : null,
    parseQuery: route.query ? parserOf(route.query, 'query') : null,
    parseBody: route.body ? parserOf(route.body, 'body') : null,
    response: options.validateResponses ? (route.response ?? null) : null,
    hasResponse: route.response !== undefined,
    handle: route.handle,
    operation: operationWriter(method, path),
  };
}

function checkParams({ key, placeholders, route }: PlacedRoute): void {
  if (!(route.params instanceof z.ZodObject)) return;
  const names = Object.keys(route.params.shape);
  if (names.toSorted().join() === placeholders.toSorted().join()) return;
  throw new BrokenInvariant(`the params of ${key} must be its placeholders, not ${names.join()}`);
}

/** Writes the path with the values of its placeholders, percent-encoded in one way only. */
function operationWriter(method: Method, path: string): Endpoint['operation'] {
  const parts = path.split(/\{(\w+)\}/);
  const first = `${method} ${parts[0]}`;
  if (parts.length === 1) return () => first;
  return (params) => {
    let text = first;
    for (let index = 1; index < parts.length; index += 2) {
      text += encodeURIComponent(params[parts[index] ?? ''] ?? '') + (parts[index + 1] ?? '');
    }
    return text;
  };
}
