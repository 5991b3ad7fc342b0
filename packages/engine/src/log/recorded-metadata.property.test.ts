import type { Instant, KeyId, UserId } from '@counterfoil/kernel';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recordedMetadata, scopeIn, wholeMetadata } from './recorded-metadata.ts';

const test = suite('recorded metadata');

const id = fc.constantFrom('env_1', 'env_2', 'tenant_1', 'tenant_2');
const cause = fc.constantFrom('req_1', 'req_2');
const metadata = fc.record({
  tenant_id: id,
  environment_id: fc.option(id),
  actor: fc.constant({ user_id: 'user_1' as UserId, key_id: 'secret_1' as KeyId }),
  occurred_at: fc.constant('2026-01-01T00:00:00.000Z' as Instant),
  schema_version: fc.integer({ min: 1, max: 3 }),
  $correlationId: cause,
  $causationId: cause,
  hash: fc.constant('1'.repeat(64)),
});
const request = fc.record({
  key: fc.constant('k'),
  fields: fc.constant({ credits: 'x' }),
  events: fc.integer({ min: 1, max: 3 }),
});

test('whatever is left out is found again, for every owner of a stream', () => {
  void fc.assert(
    fc.property(id, metadata, fc.option(request), (scope, given, asked) => {
      const { hash, ...whole } = asked ? { ...given, request: { ...asked } } : given;
      const kept = JSON.parse(JSON.stringify({ ...recordedMetadata(scope, whole), hash }));
      assert.equal(wholeMetadata(scope, kept), { ...whole, hash });
    }),
  );
});

test('what the name of the stream and the other members say is not kept', () => {
  const whole = {
    tenant_id: 'tenant_1',
    environment_id: 'env_1',
    actor: { user_id: null, key_id: null },
    occurred_at: '2026-01-01T00:00:00.000Z' as Instant,
    schema_version: 1,
    $correlationId: 'req_1',
    $causationId: 'req_1',
  };
  const keptIn = (stream: string, environment_id: string | null) =>
    Object.keys(
      JSON.parse(JSON.stringify(recordedMetadata(scopeIn(stream), { ...whole, environment_id }))),
    );
  const always = ['$correlationId', 'actor', 'occurred_at'];
  assert.equal(keptIn('wallet-env_1.w1', 'env_1'), [...always, 'tenant_id']);
  assert.equal(keptIn('user-tenant_1.u1', null), always);
});

test.run();
