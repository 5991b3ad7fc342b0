import { createMetrics } from '@counterfoil/engine';
import { secretsFrom } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outcome } from '../queue/settlement.ts';
import { queue } from '../queue/test-queue.ts';
import { type Sender, standardSendLimits } from '../sending/sender.ts';
import { type DispatcherOptions, startDispatcher } from './dispatcher.ts';
import { createEndpointCache, type EndpointCache } from './endpoint-cache.ts';
import { createWorkerMetrics } from './metrics.ts';
import { eventually, silent, World } from './test-world.ts';

const test = suite<{ world: World; environment: string; id: string }>('dispatcher');

let environments = 0;

test.before(async (context) => {
  context.world = await World.start();
});
test.after(({ world }) => world.stop());
test.before.each(async (context) => {
  environments += 1;
  const { world } = context;
  context.environment = `env_${environments}`;
  await world.query('truncate counterfoil.webhook_messages cascade');
  const given = { url: 'https://x.example/', environment_id: context.environment };
  context.id = (await world.addEndpoint({ ...given, payload: 'thin' })).id;
  const worker = await world.startWorker({ maximumInFlight: 0, upkeepMs: 3_600_000 });
  await queue(world, context.environment, context.id, 1);
  await worker.stop();
});

/** A dispatcher whose requests go nowhere, and what it would have sent and recorded. */
function dispatch(world: World, options: Partial<DispatcherOptions> = {}) {
  const ending = new AbortController();
  const sent: string[] = [];
  const outcomes: Outcome[] = [];
  const sender: Sender = {
    send: async ({ headers }) => {
      sent.push(headers['webhook-id'] ?? '');
      const result = { kind: 'answer', status: 200, retryAfterSeconds: null } as const;
      return { result, detail: '', milliseconds: 1, address: null };
    },
    close: async () => undefined,
  };
  const record = async (outcome: Outcome): Promise<void> => {
    outcomes.push(outcome);
  };
  const { loop } = startDispatcher({
    ...world.config(),
    name: 'dispatcher',
    database: world.databaseUrl,
    signal: ending.signal,
    log: silent,
    endpoints: createEndpointCache(secretsFrom(world.secretKey).sealer),
    sender,
    writer: {
      record,
      loop: { name: 'attempt-writer', error: () => null, ended: Promise.resolve() },
    },
    metrics: createWorkerMetrics(createMetrics()),
    sendLimits: standardSendLimits,
    ...options,
  });
  const stop = async (): Promise<void> => {
    ending.abort();
    await loop.ended;
  };
  return { sent, outcomes, stop };
}

test('a worker that stood still until its claims had nearly expired leaves them to others', async (context) => {
  const { world } = context;
  const leaseMs = 400;
  const inner = createEndpointCache(secretsFrom(world.secretKey).sealer);
  let looks = 0;
  const endpoints: EndpointCache = {
    ...inner,
    destinations: async (connection, versions) => {
      if (versions.length > 0) {
        looks += 1;
        await eventually('the lease has passed', async () => {
          const rows = await world.query(
            `select 1 from counterfoil.webhook_deliveries
              where state = 'sending' and lease_until < now()`,
          );
          return rows.length > 0;
        });
      }
      return await inner.destinations(connection, versions);
    },
  };
  const limits = { ...standardSendLimits, totalTimeout: 300 };
  const { sent, outcomes, stop } = dispatch(world, { endpoints, leaseMs, sendLimits: limits });
  await eventually('it has gone on', () => looks > 0);
  await stop();
  assert.equal([sent, outcomes], [[], []]);
});

test('a message that cannot be made into a request harms nothing else', async (context) => {
  const { world } = context;
  await world.query(`update counterfoil.webhook_messages set body = 'no JSON'`);
  const { sent, outcomes, stop } = dispatch(world);
  await eventually('it has been tried', () => outcomes.length === 1);
  await stop();
  assert.equal(sent, []);
  const [
    {
      sent: { result },
    } = { sent: { result: null } },
  ] = outcomes;
  assert.equal(result, { kind: 'failure', reason: 'sealed' });
});

test.run();
