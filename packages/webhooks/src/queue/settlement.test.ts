import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AttemptResult, FollowUp } from '../sending/retry.ts';
import type { Claimed } from './claim.ts';
import { type Health, standardBreakerPolicy, unknownHealth } from './health.ts';
import type { KnownHealth } from './health-store.ts';
import { settle } from './settlement.ts';

const test = suite('settlement');

const now = Date.parse('2026-11-21T12:00:00Z');
const policy = standardBreakerPolicy;
const era = '2026-11-20T00:00:00.000Z';
const retry: FollowUp = { kind: 'retry', delay: 5_000 };
const open: Health = { ...unknownHealth(now), state: 'open', failuresInRow: 20, nextProbeAt: now };

interface Given extends Partial<Claimed> {
  readonly followUp?: FollowUp;
  readonly result?: AttemptResult;
}

function outcome({ followUp = retry, result, ...changes }: Given = {}) {
  const delivery: Claimed = {
    id: '1',
    eventId: 'evt_1',
    endpointId: 'webhook_1',
    attempt: 1,
    failures: 0,
    body: Buffer.from('{}'),
    resourceId: 'cust_1',
    sequence: '0',
    trigger: 'scheduled',
    queuedAt: '2026-11-21T11:00:00.000Z',
    isProbe: false,
    enabledAt: era,
    endpoint: { id: 'webhook_1', environmentId: 'env_1', revision: '0' },
    ...changes,
  };
  const status = followUp.kind === 'delivered' ? 200 : 500;
  const sent = {
    result: result ?? { kind: 'answer' as const, status, retryAfterSeconds: null },
    detail: '',
    milliseconds: 1,
    address: null,
  };
  return { delivery, sent, followUp };
}

const knowing = (health: Health | null, enabledAt = era): KnownHealth => ({
  now,
  byEndpoint: new Map(health ? [['webhook_1', { enabledAt, health }]] : []),
});

/** Settles one delivery: its state, its wait, and whether an attempt is used up. */
function settled(given: Given, health: Health | null = null) {
  const [one] = settle([outcome(given)], knowing(health), policy).settlements;
  return one && [one.state, one.delayMs, one.isCounted];
}

test('of an endpoint that is well a failure is tried again by the ladder', () => {
  assert.equal(settled({}), ['pending', 5_000, true]);
  assert.equal(settled({ followUp: { kind: 'delivered' } }), ['delivered', 0, false]);
  const end: FollowUp = { kind: 'exhausted', cause: 'attempts' };
  assert.equal(settled({ followUp: end }), ['exhausted', 0, true]);
});

test('a probe that fails uses up no attempt, not even the last', () => {
  assert.equal(settled({ isProbe: true }, open), ['pending', 0, false]);
  const end: FollowUp = { kind: 'exhausted', cause: 'attempts' };
  assert.equal(settled({ isProbe: true, followUp: end }, open), ['pending', 0, false]);
  assert.equal(settled({ followUp: end }, open), ['exhausted', 0, true]);
});

test('a message that the receiver refuses is given up, also as a probe', () => {
  const refused: FollowUp = { kind: 'exhausted', cause: 'refused' };
  assert.equal(settled({ isProbe: true, followUp: refused }, open), ['exhausted', 0, true]);
});

test('what is held back is given up at the horizon', () => {
  const at = (age: number) => new Date(now - age).toISOString();
  const horizon = policy.horizon;
  assert.equal(settled({ isProbe: true, queuedAt: at(horizon) }, open), ['exhausted', 0, false]);
  assert.equal(settled({ isProbe: true, queuedAt: at(horizon - 1) }, open), ['pending', 0, false]);
});

test('the failure that makes it open is counted, and waits for the breaker alone', () => {
  const nearly = { ...unknownHealth(now), failuresInRow: 9 };
  const { settlements, healthChanges } = settle([outcome()], knowing(nearly), policy);
  assert.is(healthChanges[0]?.after.state, 'open');
  assert.equal([settlements[0]?.delayMs, settlements[0]?.isCounted], [0, true]);
});

test('what was asked for by hand is tried once and says nothing about the endpoint', () => {
  for (const trigger of ['resend', 'test'] as const) {
    const { settlements, healthChanges } = settle([outcome({ trigger })], knowing(open), policy);
    assert.is(settlements[0]?.state, 'exhausted');
    assert.equal(healthChanges, []);
  }
});

test('what we could not do ourselves says nothing about the endpoint and uses up no attempt', () => {
  const end: FollowUp = { kind: 'exhausted', cause: 'attempts' };
  for (const reason of ['sealed', 'cut_off'] as const) {
    const result: AttemptResult = { kind: 'failure', reason };
    for (const followUp of [retry, end]) {
      const { settlements, healthChanges } = settle(
        [outcome({ result, followUp })],
        knowing(null),
        policy,
      );
      assert.equal(healthChanges, []);
      const [{ state, isCounted, delayMs } = { state: '', isCounted: true, delayMs: 0 }] =
        settlements;
      assert.equal([state, isCounted, delayMs > 0], ['pending', false, true], reason);
    }
    const queuedAt = new Date(now - policy.horizon).toISOString();
    assert.equal(settled({ result, queuedAt })?.[0], 'exhausted', 'not for ever');
    assert.equal(settled({ result, trigger: 'test' })?.[0], 'exhausted', 'what is tried once');
  }
});

test('several outcomes of one endpoint are one change', () => {
  const many = Array.from({ length: 12 }, () => outcome());
  const { healthChanges } = settle(many, knowing(null), policy);
  assert.is(healthChanges.length, 1);
  assert.equal([healthChanges[0]?.before.state, healthChanges[0]?.after.state], ['closed', 'open']);
});

test('what is known from before it was enabled again does not count, nor a late outcome', () => {
  const later = '2026-11-21T00:00:00.000Z';
  const fresh = settle([outcome({ enabledAt: later })], knowing(open), policy);
  assert.equal(
    [fresh.healthChanges[0]?.after.state, fresh.healthChanges[0]?.era.enabledAt],
    ['closed', later],
  );
  const late = settle([outcome()], knowing(open, later), policy);
  assert.equal(late.healthChanges, []);
  assert.is(late.settlements[0]?.delayMs, 5_000);
});

test('410 has the endpoint disabled', () => {
  const result: AttemptResult = { kind: 'answer', status: 410, retryAfterSeconds: null };
  const followUp: FollowUp = { kind: 'exhausted', cause: 'refused' };
  const { healthChanges } = settle([outcome({ result, followUp })], knowing(null), policy);
  assert.is(healthChanges[0]?.after.disableReason, 'gone');
});

test.run();
