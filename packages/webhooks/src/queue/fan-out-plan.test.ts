import type { PublicMessage } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { groupsOf, planDeliveries, type Target, wantedBy } from './fan-out-plan.ts';

const test = suite('fan-out plan');

const message = (position: number, changes: Partial<PublicMessage> = {}): PublicMessage => ({
  sequence: position,
  position: BigInt(position),
  index: 0,
  count: 1,
  id: `evt_${position}`,
  type: 'customer.updated',
  tenantId: 'tenant_1',
  environmentId: 'env_1',
  resourceId: 'cust_1',
  occurredAt: '2026-11-21T00:00:00.000Z',
  stream: 'customer-env_1.cust_1',
  revision: position,
  correlationId: 'req_1',
  body: Buffer.from('{}'),
  isTruncated: false,
  ...changes,
});

const target = (changes: Partial<Target> = {}): Target => ({
  id: 'webhook_1',
  environmentId: 'env_1',
  createdPosition: 0n,
  enabled: true,
  eventTypes: null,
  orderMode: 'resource_fifo',
  headOfLineSeconds: 300,
  ...changes,
});

const idsOf = (messages: readonly PublicMessage[], targets: readonly Target[]): string[] =>
  wantedBy(messages, targets).map((wanted) => `${wanted.message.id} ${wanted.target.id}`);

test('an endpoint gets what is of its environment, its filter and its time', () => {
  const messages = [
    message(10),
    message(11, { environmentId: 'env_2' }),
    message(12, { environmentId: null }),
    message(13, { type: 'wallet.created' }),
  ];
  assert.equal(idsOf(messages, [target()]), ['evt_10 webhook_1', 'evt_13 webhook_1']);
  assert.equal(idsOf(messages, [target({ eventTypes: ['wallet.*'] })]), ['evt_13 webhook_1']);
  assert.equal(idsOf(messages, [target({ createdPosition: 10n })]), ['evt_13 webhook_1']);
  assert.equal(idsOf(messages, [target({ createdPosition: 13n })]), []);
});

test('messages keep their order, each for all endpoints', () => {
  const targets = [target(), target({ id: 'webhook_2' })];
  assert.equal(idsOf([message(1), message(2)], targets), [
    'evt_1 webhook_1',
    'evt_1 webhook_2',
    'evt_2 webhook_1',
    'evt_2 webhook_2',
  ]);
});

const plan = (
  messages: readonly PublicMessage[],
  targets: readonly Target[],
  open: Parameters<typeof planDeliveries>[1] = [],
) =>
  planDeliveries(wantedBy(messages, targets), open).map(
    ({ eventId, endpointId, state, dueInSeconds }) =>
      `${eventId} ${endpointId} ${state} ${dueInSeconds}`,
  );

test('in an ordered group the first goes, the second waits for its time-out, the others for the second', () => {
  assert.equal(plan([message(1), message(2), message(3)], [target()]), [
    'evt_1 webhook_1 pending 0',
    'evt_2 webhook_1 waiting 300',
    'evt_3 webhook_1 waiting null',
  ]);
});

test('other resources and other endpoints have groups of their own', () => {
  const messages = [message(1), message(2, { resourceId: 'cust_2' }), message(3)];
  assert.equal(plan(messages, [target(), target({ id: 'webhook_2', headOfLineSeconds: null })]), [
    'evt_1 webhook_1 pending 0',
    'evt_1 webhook_2 pending 0',
    'evt_2 webhook_1 pending 0',
    'evt_2 webhook_2 pending 0',
    'evt_3 webhook_1 waiting 300',
    'evt_3 webhook_2 waiting null',
  ]);
});

test('a group that is open already makes even the first wait', () => {
  const group = { endpointId: 'webhook_1', orderingKey: 'cust_1' };
  const messages = [message(1), message(2)];
  assert.equal(plan(messages, [target()], [{ ...group, hasWaiting: false }]), [
    'evt_1 webhook_1 waiting 300',
    'evt_2 webhook_1 waiting null',
  ]);
  assert.equal(plan(messages, [target()], [{ ...group, hasWaiting: true }]), [
    'evt_1 webhook_1 waiting null',
    'evt_2 webhook_1 waiting null',
  ]);
});

test('nothing waits without an order, and a disabled endpoint is skipped', () => {
  const messages = [message(1), message(2)];
  const targets = [target({ orderMode: 'unordered' }), target({ id: 'webhook_2', enabled: false })];
  assert.equal(plan(messages, targets), [
    'evt_1 webhook_1 pending 0',
    'evt_1 webhook_2 skipped 0',
    'evt_2 webhook_1 pending 0',
    'evt_2 webhook_2 skipped 0',
  ]);
  assert.equal(groupsOf(wantedBy(messages, targets)), [], 'no group has to be looked up');
});

test('in strict order all of an endpoint is one group, and nothing overtakes', () => {
  const messages = [message(1), message(2, { resourceId: 'cust_2' })];
  assert.equal(plan(messages, [target({ orderMode: 'strict_fifo' })]), [
    'evt_1 webhook_1 pending 0',
    'evt_2 webhook_1 waiting null',
  ]);
});

test('operational events go to who names them, all others to who names nothing', () => {
  const messages = [message(1, { type: 'endpoint.disabled' }), message(2)];
  assert.equal(idsOf(messages, [target()]), ['evt_2 webhook_1']);
  assert.equal(idsOf(messages, [target({ eventTypes: ['endpoint.*'] })]), ['evt_1 webhook_1']);
});

test('each group is looked up once', () => {
  const messages = [message(1), message(2), message(3, { resourceId: 'cust_2' })];
  assert.equal(groupsOf(wantedBy(messages, [target()])), [
    { endpointId: 'webhook_1', orderingKey: 'cust_1' },
    { endpointId: 'webhook_1', orderingKey: 'cust_2' },
  ]);
});

test.run();
