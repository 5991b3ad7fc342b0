import type { AnyProjectedEvent } from '@counterfoil/engine/define';
import type { TaskId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createTask, failTask, importTask } from '../tasks/index.ts';
import { usageAlert } from '../usage/index.ts';
import { wallet } from '../wallets/index.ts';
import { alertTable } from './alert-log.ts';
import { alertLogRoutes } from './routes.ts';

const test = suite('the log of alerts');

const stamp = {
  tenant_id: 'tenant_1',
  environment_id: 'env_1',
  occurred_at: '2026-01-01T00:00:00.000Z',
  actor: { user_id: null, key_id: null },
};

/** The entry that an event makes; null for none. */
function entryOf(aggregate: string, type: string, data: object) {
  const event = {
    ...{ aggregate, type, data, stamp, event_id: 'e-1', aggregate_id: 'wallet_1', revision: 3 },
    position: '7',
  } as unknown as AnyProjectedEvent;
  const [key] = alertTable.keys(event);
  return key === undefined ? null : alertTable.fold(null, event, key);
}

test('a wallet that reaches another level is an entry, and so is the end of an alarm', () => {
  for (const [before, after] of [
    ['ok', 'in_alarm'],
    ['in_alarm', 'ok'],
  ]) {
    const entry = entryOf('wallet', 'AlertStateChanged', { before, after, available: '9.5' });
    assert.equal(
      [entry?.id, entry?.entity_type, entry?.entity_id, entry?.alert_status, entry?.alert_info],
      ['e-1', 'wallet', 'wallet_1', after, { value_at_time: '9.5', previous_status: before }],
    );
  }
  assert.is(entryOf('wallet', 'WalletFrozen', {}), null);
});

test('usage that reaches a threshold is an entry', () => {
  const entry = entryOf('usage_alert', 'UsageThresholdCrossed', { usage: '105', level: '100' });
  assert.equal(
    [entry?.alert_type, entry?.alert_status, entry?.alert_info],
    ['usage_threshold', 'in_alarm', { value_at_time: '105', threshold: '100' }],
  );
});

test('tasks that failed are found by what they are, and by nobody else', async () => {
  const world = memoryWorld([importTask, wallet, usageAlert]);
  const context = (environment?: string) => world.request(testPrincipal(environment));
  const id = context().newId('task') as TaskId;
  const terms = { file_url: null, file_name: null, metadata: {} };
  const kind = { entity_type: 'EVENTS', file_type: 'CSV', on_existing: 'refuse' } as const;
  await context().execute(importTask, id, createTask({ id, ...kind, ...terms }));
  await context().execute(importTask, id, failTask('The file_url answered 404.'));
  const search = (body: object, environment?: string) =>
    callRoute(alertLogRoutes['POST /alerts/search'], context(environment), { body });
  const { items } = await search({ entity_type: 'task', alert_status: 'in_alarm' });
  assert.equal(
    items.map((entry) => [entry.entity_id, entry.alert_info.message]),
    [[id, 'The file_url answered 404.']],
  );
  assert.is((await search({ alert_type: 'usage_threshold' })).pagination.total, 0);
  assert.is((await search({ customer_id: 'cust_1' })).pagination.total, 0);
  assert.is((await search({}, 'env_other')).pagination.total, 0);
});

test.run();
