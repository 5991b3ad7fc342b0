import { BrokenInvariant, invariant } from '@counterfoil/kernel';
import { z } from 'zod';
import type { BodyContents } from '../define/route.ts';
import { jsonLimits } from './limits.ts';
import { type Parser, parserOf } from './parse.ts';
import type { Method, PlacedRoute } from './routing.ts';

/** A route with everything that can be computed before the first request. */
export interface Endpoint extends PlacedRoute {
  readonly bodyLimitBytes: number;
  readonly bodyContents: BodyContents;
  readonly parseParams: Parser | null;
  readonly parseQuery: Parser;
  /** A route without a body takes none but an empty object. */
  readonly parseBody: Parser;
  /** The schema of the response, when responses are checked. */
  readonly checkedResponse: z.ZodType | null;
  /** The path at which a record that was made is read; null where there is none. */
  readonly locationOf: (params: Readonly<Record<string, string>>, body: unknown) => string | null;
  /** Canonical method and path of a request: see `BeginRequest.operation`. */
  readonly operation: (params: Readonly<Record<string, string>>) => string;
}

interface CompileOptions {
  readonly bodyLimitBytes: number;
  readonly validateResponses: boolean;
}

/**
 * Compiles a route. Throws `BrokenInvariant` when its parts contradict each other, so that a wrong
 * table of routes cannot start.
 */
export function compileEndpoint(placed: PlacedRoute, options: CompileOptions): Endpoint {
  const { key, method, path, route } = placed;
  checkParams(placed);
  invariant(
    (route.status === 204) === (route.response === undefined && route.contents === undefined),
    `${key} must have a response schema or contents, or status 204 and none`,
  );
  invariant(method === 'GET' || !route.contents, `${key} cannot answer contents`);
  invariant(method !== 'GET' || route.body === undefined, `${key} cannot have a body`);
  invariant(!route.streams || route.body === undefined, `${key} cannot have two kinds of bodies`);
  return {
    ...placed,
    bodyLimitBytes: route.bodyLimitBytes ?? options.bodyLimitBytes,
    bodyContents: route.bodyContents ?? jsonLimits,
    parseParams: route.params ? parserOf(route.params, 'path') : null,
    parseQuery: parserOf(route.query ?? z.object({}), 'query'),
    parseBody: parserOf(route.body ?? z.object({}), 'body'),
    checkedResponse: options.validateResponses ? (route.response ?? null) : null,
    locationOf: locationWriter(placed),
    operation: operationWriter(method, path),
  };
}

function checkParams({ key, placeholders, route }: PlacedRoute): void {
  if (!(route.params instanceof z.ZodObject)) return;
  const names = Object.keys(route.params.shape);
  if (names.toSorted().join() === placeholders.toSorted().join()) return;
  throw new BrokenInvariant(`the params of ${key} must be its placeholders, not ${names.join()}`);
}

/** Writes where the record is read that a request has made. */
function locationWriter({ madeAt, route, placeholders }: PlacedRoute): Endpoint['locationOf'] {
  if (madeAt === null) return () => null;
  const write = operationWriter('GET', madeAt);
  const member = route.example?.madeIn;
  return (params, body) => {
    const id = idIn(member === undefined ? body : valueAt(body, member));
    if (id === null) return null;
    const outer = Object.fromEntries(placeholders.map((name) => [name, params[name] ?? '']));
    return `/v1${write({ ...outer, made: id }).slice('GET '.length)}`;
  };
}

const valueAt = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

function idIn(value: unknown): string | null {
  const id = valueAt(value, 'id');
  return typeof id === 'string' ? id : null;
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
