import {
  aggregate,
  type EnvironmentId,
  type Instant,
  instantOf,
  type TenantId,
} from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { Principal } from '../define/context.ts';
import { RecentWrites } from './read-your-writes.ts';
import { RequestRunner } from './request-run.ts';
import { createStreams } from './streams.ts';
import { command, fill, jar, rename } from './test-jar.ts';

const test = suite('the clock of decisions');

const system = Date.parse('2026-05-01T00:00:00.000Z');
const apart = '2031-01-01T00:00:00.000Z' as Instant;

const token = aggregate({
  name: 'token',
  scope: 'environment',
  clock: 'system',
  events: { TokenMade: z.object({}) },
  initial: 0,
  evolve: (count: number): number => count + 1,
});

/** Two environments, of which the first has a time of its own. */
function world() {
  const store = new MemoryStore();
  const clocks = new Map([['env_1', apart]]);
  const streams = createStreams({
    store,
    aggregates: [jar, token],
    now: () => system,
    clock: { now: (owner) => clocks.get(owner) ?? instantOf(system) },
  });
  const options = {
    streams,
    readSide: {
      reader: () => ({}) as never,
      projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
    },
    recentWrites: new RecentWrites(),
    now: () => system,
  };
  const request = (environmentId: string) =>
    new RequestRunner(options, {
      principal: { tenantId: 'tenant_1', environmentId } as Principal,
      requestId: 'req_1',
      receivedAt: instantOf(system),
      route: 'POST /jars',
      operation: 'POST /jars',
      idempotencyKey: null,
      fields: {},
      ifMatch: null,
      minimumPosition: null,
    });
  /** The instants of the events, by the first part of their streams. */
  const stamped = () =>
    store.log.map(({ stream, metadata }) => [stream.split('.')[0], metadata.occurred_at]);
  return { streams, clocks, request, stamped };
}

test('a decision is made at the time of its environment', async () => {
  const { request, stamped } = world();
  await request('env_1').execute(jar, '1', fill(1) as never);
  await request('env_2').execute(jar, '1', fill(1) as never);
  assert.equal(stamped(), [
    ['jar-env_1', apart],
    ['jar-env_2', instantOf(system)],
  ]);
});

test('what is no billing keeps the time of the system: some aggregates, and claims', async () => {
  const { request, stamped, streams } = world();
  await request('env_1').execute(token, '1', () => [{ type: 'TokenMade', data: {} }]);
  await streams.writer(jar, 'env_1', '1').run(command(rename('coins')) as never);
  assert.equal(stamped(), [
    ['token-env_1', instantOf(system)],
    ['reservation-env_1', instantOf(system)],
    ['jar-env_1', apart],
  ]);
});

test('a request has both times, and its ids have that of the system', () => {
  const { request } = world();
  const context = request('env_1');
  assert.equal([context.now, context.receivedAt], [apart, instantOf(system)]);
  const place = { tenantId: 'tenant_1' as TenantId, environmentId: 'env_2' as EnvironmentId };
  assert.is(context.within(place).now, instantOf(system));
  const timeOf = (id: string): string => id.slice(4, 14);
  assert.is(timeOf(context.newId('req')), timeOf(request('env_2').newId('req')));
});

test('a record never goes back in time when its environment gets another clock', async () => {
  const { request, clocks, stamped } = world();
  await request('env_1').execute(jar, '1', fill(1) as never);
  clocks.delete('env_1');
  await request('env_1').execute(jar, '1', fill(1) as never);
  await request('env_1').execute(jar, '2', fill(1) as never);
  assert.equal(
    stamped().map(([, at]) => at),
    [apart, apart, instantOf(system)],
  );
});

test.run();
