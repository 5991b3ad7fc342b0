import { createLog, startParts } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectSenders } from './senders.ts';

const test = suite('the connection of senders');

const log = createLog({ level: 'silent', name: 'test' });
/** Nobody listens there. */
const NATS_URL = 'nats://127.0.0.1:1';

type Config = Parameters<typeof connectSenders>[1];

/** The failure of each readiness check that a configuration brings, by its name. */
const failuresWith = async (config: Omit<Config, 'COUNTERFOIL_SECRET_KEY'>) => {
  let failures: readonly (readonly [string, boolean, string])[] = [];
  const parts = await startParts(async (started) => {
    const { health } = await connectSenders(
      started,
      { ...config, COUNTERFOIL_SECRET_KEY: '' },
      log,
    );
    failures = await Promise.all(
      health.map(async ({ name, required, check }) => {
        const failure = await Promise.resolve(check()).then(
          () => 'none',
          (error: Error) => error.message,
        );
        return [name, required, failure] as const;
      }),
    );
    return {};
  });
  await parts.stop();
  return failures;
};

test('a process without a gateway has none, and is ready', async () => {
  assert.equal(await failuresWith({ NATS_URL, EVENT_GATEWAY_URL: undefined }), []);
});

test('a process that cannot reach NATS says so, and is ready all the same', async () => {
  const [[name, required, failure] = []] = await failuresWith({
    NATS_URL,
    EVENT_GATEWAY_URL: 'nats://127.0.0.1:2',
  });
  assert.equal([name, required], ['senders', false]);
  assert.is.not(failure, 'none');
});

test.run();
