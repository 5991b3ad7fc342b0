import { BrokenInvariant, invariant } from '@counterfoil/kernel';
import { z } from 'zod';
import type { Module } from '../define/module.ts';
import type { AnyRoute, RouteKey } from '../define/route.ts';

/** A method of HTTP that routes may have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route with its key taken apart. */
export interface PlacedRoute {
  readonly key: RouteKey;
  readonly method: Method;
  /** Below /v1, as in OpenAPI: `/wallets/{id}`. */
  readonly path: string;
  readonly placeholders: readonly string[];
  readonly route: AnyRoute;
  /** The path at which the record is read that the route makes, `{made}` being its id; null: none. */
  readonly madeAt: string | null;
}

const keyShape = /^(GET|POST|PUT|PATCH|DELETE) (\/[^?#\s]*)$/;
const segmentShape = /^(\{[a-z][a-z0-9_]*\}|[A-Za-z0-9_-]+)$/;

const isPlaceholder = (segment: string): boolean => segment.startsWith('{');

const segmentsOf = (path: string): string[] => path.slice(1).split('/');

function place(key: string, route: AnyRoute): Omit<PlacedRoute, 'madeAt'> {
  const [, method, path] = keyShape.exec(key) ?? [];
  invariant(method && path, `${key} is no route key`);
  const segments = segmentsOf(path);
  invariant(
    segments.every((segment) => segmentShape.test(segment)),
    `the path of ${key} has a segment that is neither plain nor one placeholder`,
  );
  invariant(!isPlaceholder(segments[0] ?? ''), `${key} must begin with the name of a resource`);
  const placeholders = segments.filter(isPlaceholder).map((segment) => segment.slice(1, -1));
  return { key: key as RouteKey, method: method as Method, path, placeholders, route };
}

/** Static segments come before placeholders: `/customers/usage` before `/customers/{id}`. */
function bySpecificity(left: PlacedRoute, right: PlacedRoute): number {
  const others = segmentsOf(right.path);
  for (const [index, segment] of segmentsOf(left.path).entries()) {
    const other = others[index];
    if (other === undefined) return 1;
    if (isPlaceholder(segment) !== isPlaceholder(other)) return isPlaceholder(segment) ? 1 : -1;
    if (segment !== other) return segment < other ? -1 : 1;
  }
  return left.path.length - right.path.length || (left.method < right.method ? -1 : 1);
}

/** A path without the names of its placeholders. */
const unnamed = (path: string): string => path.replaceAll(/\{\w*\}/g, '{}');

/** Tells whether an answer shows the id of what was made. */
function showsId({ response, example }: AnyRoute): boolean {
  const member = example?.madeIn;
  const made: unknown =
    member !== undefined && response instanceof z.ZodObject ? response.shape[member] : response;
  return made instanceof z.ZodObject && 'id' in made.shape;
}

/**
 * The path at which a record is read that is made: below the route's own path, or beside the record that it is
 * made from, if that is where its kind is read.
 */
function readPath(
  { path, route }: Omit<PlacedRoute, 'madeAt'>,
  readable: ReadonlyMap<string, AnyRoute>,
): string | null {
  if (route.status !== 201 || !showsId(route)) return null;
  const below = `${path}/{made}`;
  if (readable.has(unnamed(below))) return below;
  const beside = path.replace(/\{\w+\}\/[^/{}]+$/, '{made}');
  return readable.get(unnamed(beside))?.response === route.response ? beside : null;
}

/**
 * All routes of the modules, in the order in which they are shown. Throws `BrokenInvariant`
 * on a key that two modules define and on paths that differ only in the names of placeholders,
 * because one of the two could never be reached.
 */
export function placeRoutes(modules: readonly Module[]): PlacedRoute[] {
  const placed = modules.flatMap((module) =>
    Object.entries(module.routes).map(([key, route]) => place(key, route)),
  );
  const keys = new Set<string>();
  const paths = new Map<string, string>();
  for (const { key, path } of placed) {
    if (keys.has(key)) throw new BrokenInvariant(`two modules define ${key}`);
    keys.add(key);
    const shape = unnamed(path);
    const known = paths.get(shape) ?? path;
    invariant(known === path, `${path} and ${known} are the same path`);
    paths.set(shape, path);
  }
  const readable = new Map(
    placed.flatMap(({ method, path, route }) =>
      method === 'GET' ? [[unnamed(path), route] as const] : [],
    ),
  );
  return placed.map((each) => ({ ...each, madeAt: readPath(each, readable) })).sort(bySpecificity);
}

/** The routes of each path. */
export function routesByPath(placed: readonly PlacedRoute[]): Map<string, PlacedRoute[]> {
  const paths = new Map<string, PlacedRoute[]>();
  for (const route of placed) {
    const siblings = paths.get(route.path);
    if (siblings) siblings.push(route);
    else paths.set(route.path, [route]);
  }
  return paths;
}
