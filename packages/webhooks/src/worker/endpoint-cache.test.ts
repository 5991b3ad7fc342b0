import type { Connection } from '@counterfoil/engine';
import type { Compilable } from 'kysely';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sealingContext } from '../endpoint/endpoint.ts';
import { createSealer } from '../endpoint/sealing.ts';
import type { EndpointRow } from '../projection.ts';
import type { EndpointVersion } from '../queue/claim.ts';
import { createEndpointCache } from './endpoint-cache.ts';

const test = suite('endpoints');

const sealer = createSealer(Buffer.alloc(32, 1).toString('base64'));
const secret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

interface StoredEndpoint extends EndpointVersion {
  readonly url: string;
}

/** A database in which there are some endpoints. `beforeRows` runs before endpoints are handed out. */
function databaseOf(stored: readonly StoredEndpoint[], beforeRows = async () => {}): Connection {
  const stateOf = ({ id, environmentId, url }: StoredEndpoint): string => {
    const endpoint = {
      id,
      environment_id: environmentId,
      url,
      enabled: true,
      event_types: null,
      order_mode: 'unordered',
      order_guard_seconds: 300,
      payload: 'full',
      headers: null,
      secret: sealer.seal(secret, sealingContext(id, 'secret')),
      former_secrets: [],
    };
    const row = { endpoint, created_position: '0' } as unknown as EndpointRow;
    return JSON.stringify(row);
  };
  const run = async (statement: Compilable<unknown>) => {
    const { sql, parameters } = statement.compile();
    if (sql.includes('"relation"')) return { rows: [{ relation: 'rows' }], count: 1 };
    const [environments, given] = parameters as [readonly string[], unknown];
    const ids = Array.isArray(given) ? given : null;
    if (ids) await beforeRows();
    const rows = stored
      .filter(
        ({ id, environmentId }) =>
          environments.includes(environmentId) && (!ids || ids.includes(id)),
      )
      .map((one) => ({ ...one, state: stateOf(one) }));
    return { rows, count: rows.length };
  };
  return { run } as unknown as Connection;
}

const endpoint = (id: string, environmentId = 'env_1'): StoredEndpoint => ({
  id,
  environmentId,
  revision: '0',
  url: `https://${id}.example/`,
});

test('no endpoint is left out when there are more than are kept in memory', async () => {
  const stored = ['a', 'b', 'c', 'd'].map((id) => endpoint(id));
  const endpoints = createEndpointCache(sealer, 2);
  await endpoints.targets(databaseOf(stored.slice(0, 3)), ['env_1']);
  const targets = await endpoints.targets(databaseOf(stored), ['env_1']);
  assert.equal(
    targets.map(({ id }) => id),
    ['a', 'b', 'c', 'd'],
  );
});

test('what another part of the worker forgets meanwhile is not missed', async () => {
  const endpoints = createEndpointCache(sealer, 2);
  const others = ['x', 'y', 'z'].map((id) => endpoint(id, 'env_2'));
  await endpoints.targets(databaseOf([endpoint('a')]), ['env_1']);
  // While the new endpoint is being read, the other part reads more than are kept.
  const database = databaseOf([endpoint('a'), endpoint('b')], async () => {
    await endpoints.destinations(databaseOf(others), others);
    await endpoints.destinations(databaseOf([endpoint('w', 'env_2')]), [endpoint('w', 'env_2')]);
  });
  const targets = await endpoints.targets(database, ['env_1']);
  assert.equal(
    targets.map(({ id }) => id),
    ['a', 'b'],
  );
});

test('an endpoint that is listed and cannot be read is an error, and not left out', async () => {
  const endpoints = createEndpointCache(sealer);
  try {
    await endpoints.destinations(databaseOf([]), [endpoint('a')]);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'endpoint a');
  }
});

test('a destination is that of the revision that was asked for, or of a later one', async () => {
  const endpoints = createEndpointCache(sealer);
  const first = endpoint('a');
  const changed = { ...first, revision: '1', url: 'https://changed.example/' };
  const before = await endpoints.destinations(databaseOf([first]), [first]);
  assert.is(before('a').url, first.url);
  assert.is((await endpoints.destinations(databaseOf([changed]), [changed]))('a').url, changed.url);
  assert.equal(before('a').secrets, [{ text: secret, until: null }]);
});

test.run();
