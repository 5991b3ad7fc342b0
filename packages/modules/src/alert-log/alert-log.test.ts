import type { AnyProjectedEvent, RouteKey } from '@counterfoil/engine/define';
import {
  type DecimalText,
  existing,
  type FeatureId,
  invariant,
  type TaskId,
} from '@counterfoil/kernel';
import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../customers/index.ts';
import { exportRun } from '../scheduled-tasks/index.ts';
import { createTask, failTask, importTask } from '../tasks/index.ts';
import { usageAlert } from '../usage/index.ts';
import {
  type AlertingFeature,
  judgeOngoing,
  spendingOf,
  wallet,
  wallets,
} from '../wallets/index.ts';
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

/** A wallet with 10 credits, looked at by a feature. */
async function watchedWallet() {
  const world = memoryWorld([customer, wallet, usageAlert, importTask, exportRun]);
  const context = () => world.request(testPrincipal());
  const made = async (module: typeof wallets | typeof customers, key: RouteKey, body: object) => {
    const route = module.routes[key];
    invariant(route, `there is no ${key}`);
    return (await callRoute(route, context(), { body })) as { id: string; customer_id: string };
  };
  await made(customers, 'POST /customers', { name: 'Ada', external_id: 'ada' });
  const prepaid = await made(wallets, 'POST /wallets', {
    ...{ currency: 'usd', external_customer_id: 'ada', initial_credits_to_load: '10' },
  });
  const zero = '0' as DecimalText;
  /** Has the wallet judged under a threshold of a feature. */
  const watch = async (featureId: string, threshold: string) => {
    const state = existing(await context().load(wallet, prepaid.id), 'wallet');
    const critical = { threshold, condition: 'below' };
    const feature = {
      feature_id: featureId as FeatureId,
      alert_settings: { alert_enabled: true, critical, warning: null, info: null },
    } as unknown as AlertingFeature;
    const seen = {
      ...{ current_period_usage: zero, unpaid_invoices_amount: zero, held: zero },
      ...{ spending: spendingOf(state), position: '1', features: [feature] },
    };
    await context().execute(wallet, prepaid.id, judgeOngoing(prepaid.id, seen));
  };
  return { context, prepaid, watch };
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

test('what is left once everything is paid has entries of its own, those of a feature among them', () => {
  const figures = { available: '4', balance: '2', position: '9' };
  const change = { before: 'ok', after: 'warning', ...figures };
  const told = (type: string, data: object) => {
    const entry = entryOf('wallet', type, data);
    const { entity_type, entity_id, wallet_id, feature_id, alert_type, alert_status } = entry ?? {};
    return [entity_type, entity_id, wallet_id, feature_id, alert_type, alert_status];
  };
  assert.equal(told('OngoingAlertStateChanged', change), [
    ...['wallet', 'wallet_1', 'wallet_1', undefined, 'low_ongoing_balance', 'warning'],
  ]);
  assert.equal(told('FeatureAlertStateChanged', { ...change, feature_id: 'feat_1' }), [
    ...['feature', 'feat_1', 'wallet_1', 'feat_1', 'feature_wallet_balance', 'warning'],
  ]);
  assert.equal(entryOf('wallet', 'OngoingAlertStateChanged', change)?.alert_info, {
    ...{ value_at_time: '4', balance: '2', previous_status: 'ok' },
  });
  const stopped = { available: '3', limit: 5 };
  assert.equal(told('AutomaticTopUpStopped', stopped)[4], 'auto_topup_stopped');
});

test('a run of an export is told once, when it has failed', () => {
  const failed = (is_failure: boolean) =>
    entryOf('export_run', 'ExportAttemptFailed', { error: 'The storage is away.', is_failure });
  assert.is(failed(false), null);
  const { entity_type, alert_type, alert_info } = failed(true) ?? {};
  assert.equal(
    [entity_type, alert_type, alert_info],
    ['task', 'task_failed', { message: 'The storage is away.' }],
  );
});

test('alerts of a feature are found by the feature, and by the customer of the wallet', async () => {
  const { context, prepaid, watch } = await watchedWallet();
  await watch('feat_1', '10');
  const search = async (body: object) => {
    const { items } = await callRoute(alertLogRoutes['POST /alerts/search'], context(), { body });
    return items.map(({ alert_type, customer_id }) => [alert_type, customer_id]);
  };
  const ofFeature = ['feature_wallet_balance', prepaid.customer_id];
  assert.equal(await search({ entity_type: 'feature', entity_id: 'feat_1' }), [ofFeature]);
  assert.equal(await search({ customer_id: prepaid.customer_id, alert_type: ofFeature[0] }), [
    ofFeature,
  ]);
  assert.equal(await search({ entity_id: prepaid.id, alert_type: ofFeature[0] }), []);
  assert.equal(await search({ customer_id: 'cust_other' }), []);
});

test('usage that reaches a threshold is an entry', () => {
  const entry = entryOf('usage_alert', 'UsageThresholdCrossed', { usage: '105', level: '100' });
  assert.equal(
    [entry?.alert_type, entry?.alert_status, entry?.alert_info],
    ['usage_threshold', 'in_alarm', { value_at_time: '105', threshold: '100' }],
  );
});

test('tasks that failed are found by what they are, and by nobody else', async () => {
  const world = memoryWorld([importTask, exportRun, wallet, usageAlert]);
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
