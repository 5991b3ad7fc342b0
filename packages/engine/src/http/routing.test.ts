import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Routes } from '../define/route.ts';
import { fieldsOf } from './fields.ts';
import { placeRoutes, routesByPath } from './routing.ts';
import { thingRoutes } from './test-machine.ts';

const test = suite('routing');

const base = thingRoutes['DELETE /things/{id}'];

/** A module with these routes, whose handlers do not matter here. */
const moduleOf = (...keys: string[]) => ({
  name: 'm',
  aggregates: [],
  tables: [],
  publicEvents: [],
  routes: Object.fromEntries(keys.map((key) => [key, base])) as Routes,
});

const order = (...keys: string[]): string[] =>
  placeRoutes([moduleOf(...keys)]).map(({ key }) => key);

test('static segments come before placeholders, at any depth', () => {
  assert.equal(
    order(
      'GET /a/{id}',
      'GET /a/{id}/c',
      'GET /a/{id}/{other}',
      'GET /a/b',
      'GET /a/b/{id}',
      'GET /a',
      'POST /a',
    ),
    [
      'GET /a',
      'POST /a',
      'GET /a/b',
      'GET /a/b/{id}',
      'GET /a/{id}',
      'GET /a/{id}/c',
      'GET /a/{id}/{other}',
    ],
  );
});

test('the order does not depend on the order of definition', () => {
  const keys = ['GET /a/{id}', 'GET /a/b', 'POST /a', 'GET /b', 'GET /a/b/c'];
  assert.equal(order(...keys), order(...keys.toReversed()));
});

test('the routes of a path are together', () => {
  const paths = routesByPath(placeRoutes([moduleOf('GET /a', 'POST /a', 'GET /b')]));
  assert.equal(
    [...paths].map(([path, routes]) => [path, routes.length]),
    [
      ['/a', 2],
      ['/b', 1],
    ],
  );
});

for (const key of [
  'HEAD /a',
  'GET a',
  'GET /a?b',
  'GET /a//b',
  'GET /a/x{id}',
  'GET /a/:id',
  'GET /{id}',
]) {
  test(`refuses the key ${key}`, () => {
    assert.throws(() => order(key));
  });
}

test('refuses two modules with the same route', () => {
  assert.throws(() => placeRoutes([moduleOf('GET /a'), moduleOf('GET /a')]), /two modules/);
});

test('refuses paths that differ only in the names of placeholders', () => {
  assert.throws(() => order('GET /a/{id}', 'PUT /a/{other}'), /same path/);
});

test('the fields of a request are those of body, query and path, none hiding another', () => {
  const fields = fieldsOf({
    params: { id: 'p', name: 'p' },
    query: { limit: 1, name: 'q' },
    body: { name: 'b', idempotency_key: 'k' },
  });
  assert.equal(fields, { name: 'b', limit: 1, 'query.name': 'q', id: 'p', 'path.name': 'p' });
});

test('a body that is no object is one field', () => {
  assert.equal(fieldsOf({ params: {}, query: {}, body: [1] }), { body: [1] });
  assert.equal(fieldsOf({ params: {}, query: {}, body: undefined }), {});
});

test.run();
