import { ConfigError, parseConfig } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { webhooksConfig, webhooksDefaults, webhooksEnvironment } from './config.ts';

const test = suite('webhooks configuration');

const required = {
  DATABASE_URL: 'postgres://localhost/counterfoil',
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  NATS_URL: 'nats://localhost',
  COUNTERFOIL_SECRET_KEY: 'ab'.repeat(32),
};

const read = (environment: Record<string, string>) =>
  webhooksConfig(parseConfig(webhooksEnvironment, environment, { ownPrefix: 'WEBHOOK_' }));

const wrongIn = (environment: Record<string, string>): readonly string[] => {
  try {
    read(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.variables;
    throw error;
  }
};

test('what is not said has a strict default', () => {
  const config = read(required);
  assert.equal(config, {
    ...webhooksDefaults,
    databaseUrl: required.DATABASE_URL,
    eventStoreUrl: required.EVENTSTORE_URL,
    natsUrl: required.NATS_URL,
    secretKey: required.COUNTERFOIL_SECRET_KEY,
  });
  assert.is(config.policy.allowHttp, false);
  assert.is(config.retry.ladder.length, 10);
  assert.ok(config.leaseMs > config.sendLimits.totalTimeout, 'a lease outlasts an attempt');
});

test('everything can be said', () => {
  const config = read({
    ...required,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8, ::1/128',
    WEBHOOK_DENIED_CIDRS: '203.0.113.0/24',
    WEBHOOK_RETRY_LADDER_MS: '10,20',
    WEBHOOK_SLOW_DOWN_MS: '0',
    WEBHOOK_MAX_IN_FLIGHT: '7',
    WEBHOOK_LEASE_MS: '20000',
    WEBHOOK_ATTEMPT_DAYS: '5',
    WEBHOOK_MESSAGE_DAYS: '6',
    HOST: '0.0.0.0',
    HEALTH_PORT: '9000',
  });
  assert.equal(config.policy, {
    allowHttp: true,
    allowedCidrs: ['127.0.0.0/8', '::1/128'],
    deniedCidrs: ['203.0.113.0/24'],
  });
  assert.equal(config.retry.ladder, [10, 20]);
  assert.is(config.retry.slowDown, 0);
  assert.is(config.maximumInFlight, 7);
  assert.is(config.leaseMs, 20_000);
  assert.is(config.sendLimits.totalTimeout, 15_000);
  assert.equal(config.retention, { attemptDays: 5, messageDays: 6 });
  assert.equal([config.host, config.healthPort], ['0.0.0.0', 9000]);
});

test('with a short lease attempts may take less time, so that none outlasts it', () => {
  const { leaseMs, sendLimits } = read({ ...required, WEBHOOK_LEASE_MS: '4000' });
  assert.equal(
    [leaseMs, sendLimits.totalTimeout, sendLimits.headersTimeout, sendLimits.connectTimeout],
    [4_000, 3_000, 3_000, 3_000],
  );
});

test('what is wrong or unknown is named', () => {
  assert.equal(wrongIn({}), Object.keys(required));
  assert.equal(wrongIn({ ...required, WEBHOOK_ALLOWED_CIDRS: '127.0.0.1' }), [
    'WEBHOOK_ALLOWED_CIDRS/0',
  ]);
  assert.equal(wrongIn({ ...required, WEBHOOK_ALLOW_HTTP: 'yes' }), ['WEBHOOK_ALLOW_HTTP']);
  assert.equal(wrongIn({ ...required, WEBHOOK_MAX_IN_FLIGHT: '0' }), ['WEBHOOK_MAX_IN_FLIGHT']);
  assert.equal(wrongIn({ ...required, WEBHOOK_LADDER: '1' }), ['WEBHOOK_LADDER']);
});

test.run();
