import type { CustomerId, FeatureId, Instant, MeterId, UsageAlertId } from '@counterfoil/kernel';
import {
  callRoute,
  folded,
  given,
  memoryWorld,
  published,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CustomerRoutes, customer, customers } from '../../customers/index.ts';
import { type FeatureRoutes, feature, features } from '../../features/index.ts';
import { meter } from '../../meters/index.ts';
import {
  createUsageAlert,
  deleteUsageAlert,
  type NewUsageAlert,
  noteUsage,
  type SeenUsage,
  updateUsageAlert,
} from './commands.ts';
import { usageAlertPublicEvents } from './public-events.ts';
import { usageAlertRoutes } from './routes.ts';
import { usageAlertSchema } from './schema.ts';
import { type UsageAlertEvent, usageAlert } from './usage-alert.ts';
import { usageAlertView } from './view.ts';

const test = suite('usage alert');

const id = 'alert_01' as UsageAlertId;
const span = (start: string, end: string) => ({ start: start as Instant, end: end as Instant });
const january = span('2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z');
const february = span('2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z');

const threshold = (text: string) => {
  const [value = '', sign] = text.split('%');
  return {
    type: sign === undefined ? 'absolute' : 'percent',
    value,
  } as NewUsageAlert['thresholds'][number];
};

const data = (thresholds: string, limit: string | null = '200'): NewUsageAlert => ({
  id,
  customer_id: 'cust_01' as CustomerId,
  feature_id: 'feat_01' as FeatureId,
  meter_id: 'meter_01' as MeterId,
  event_name: 'tokens',
  reset_period: 'MONTHLY',
  period: january,
  limit: limit === null ? null : { type: 'given', value: limit as never },
  thresholds: thresholds.split(' ').map(threshold),
});

const created = (thresholds: string, limit?: string | null): UsageAlertEvent => ({
  type: 'UsageAlertCreated',
  data: data(thresholds, limit),
});

const seen = (usage: string | null, more: Partial<SeenUsage> = {}) =>
  noteUsage({
    period: january,
    usage: usage as SeenUsage['usage'],
    position: '7',
    next: null,
    ...more,
  });

const crossed = (text: string, level: string, usage: string, limit: string | null = '200') =>
  ({
    type: 'UsageThresholdCrossed',
    data: { threshold: threshold(text), level, limit, usage, position: '7', period: january },
  }) as UsageAlertEvent;

/** Looks one after the other: the usage that each sees, and the levels that it crosses. */
const looks: readonly (readonly [thresholds: string, ...(readonly [string | null, string])[]])[] = [
  ['100', ['99.999999999', ''], ['100', '100'], ['101', '']],
  ['100', [null, ''], ['0', ''], ['-100', '']],
  ['80% 100% 150', ['250', '150 160 200'], ['300', '']],
  ['80% 100%', ['160', '160'], ['10', ''], ['199', ''], ['200', '200'], ['0', ''], ['500', '']],
  ['0.5%', ['0.999999999999999', ''], ['1', '1']],
  ['33.3333333333%', ['66.666666666', ''], ['66.6666666667', '66.6666666666']],
  ['100% 200', ['200', '200 200'], ['200', '']],
];

for (const [thresholds, ...steps] of looks) {
  test(`${thresholds} of 200: ${steps.map(([usage]) => usage).join(', ')}`, () => {
    let history: readonly UsageAlertEvent[] = [created(thresholds)];
    for (const [usage, levels] of steps) {
      const decided = seen(usage)(folded(usageAlert, history), january.start);
      const found = decided.map((event) => 'level' in event.data && event.data.level);
      assert.is(found.join(' '), levels, `at ${usage}`);
      history = [...history, ...decided];
    }
  });
}

test('what was crossed stays so until the period ends, and the next begins with nothing crossed', () => {
  const first = [created('100'), crossed('100', '100', '120')];
  given(usageAlert, first).when(seen('90')).then([]);
  given(usageAlert, first).when(seen('130')).then([]);
  const ended: UsageAlertEvent = {
    type: 'UsageAlertPeriodEnded',
    data: { usage: '130' as never, position: '7', next: february },
  };
  given(usageAlert, first)
    .when(seen('130', { next: february }))
    .then([ended]);
  const next = seen('100', { period: february });
  const again = crossed('100', '100', '100');
  const inFebruary = { ...again, data: { ...again.data, period: february } } as UsageAlertEvent;
  given(usageAlert, [...first, ended])
    .when(next)
    .then([inFebruary]);
});

test('the last look of a period crosses and ends it; a look at a period that is over changes nothing', () => {
  const last = seen('100', { next: february });
  const events = last(folded(usageAlert, [created('100')]), february.start);
  assert.equal(
    events.map(({ type }) => type),
    ['UsageThresholdCrossed', 'UsageAlertPeriodEnded'],
  );
  given(usageAlert, [created('100'), ...events])
    .when(last)
    .then([]);
  given(usageAlert, [created('100'), ...events])
    .when(seen('500'))
    .then([]);
  given(usageAlert, []).when(seen('500')).then([]);
});

test('a threshold that is crossed at another usage is a new one, and one that comes back is not', () => {
  const history = [created('80%'), crossed('80%', '160', '170')];
  const limit = (value: string) => ({ limit: { type: 'given', value } as never });
  const raised: UsageAlertEvent = { type: 'UsageAlertUpdated', data: limit('300') };
  const back: UsageAlertEvent = { type: 'UsageAlertUpdated', data: limit('200') };
  given(usageAlert, history)
    .when(updateUsageAlert(id, limit('300')))
    .then([raised]);
  given(usageAlert, history)
    .when(updateUsageAlert(id, limit('200')))
    .then([]);
  given(usageAlert, [...history, raised])
    .when(seen('240'))
    .then([crossed('80%', '240', '240', '300')]);
  given(usageAlert, [...history, raised, back])
    .when(seen('240'))
    .then([]);
});

test('refuses what contradicts itself', () => {
  given(usageAlert, [])
    .when(createUsageAlert(data('80% 5', null)))
    .thenProblem('validation_error', '/usage_limit');
  given(usageAlert, [])
    .when(createUsageAlert(data('5 80% 5')))
    .thenProblem('validation_error', '/thresholds/2');
  given(usageAlert, [created('80%')])
    .when(updateUsageAlert(id, { limit: null }))
    .thenProblem('validation_error', '/usage_limit');
  given(usageAlert, [created('80%'), { type: 'UsageAlertDeleted', data: {} }])
    .when(deleteUsageAlert(id))
    .thenProblem('not_found');
});

test('needs its customer and its feature or meter until it is deleted', () => {
  const named = (events: readonly UsageAlertEvent[]) =>
    usageAlert.refersTo?.(folded(usageAlert, events), january.start).map((one) => one.id);
  const byMeter = { type: 'UsageAlertCreated', data: { ...data('5'), feature_id: null } } as const;
  assert.equal(named([created('5')]), ['cust_01', 'feat_01']);
  assert.equal(named([byMeter]), ['cust_01', 'meter_01']);
  assert.equal(named([byMeter, { type: 'UsageAlertDeleted', data: {} }]), []);
});

test('the view shows what was crossed in the period, and is of the published form', () => {
  const events = [created('80% 5000'), crossed('80%', '160', '170')];
  const view = usageAlertView(folded(usageAlert, events));
  assert.equal(usageAlertSchema.parse(view), view);
  assert.equal(
    view.thresholds.map(({ level, usage }) => [level, usage]),
    [
      ['160', '170'],
      ['5000', undefined],
    ],
  );
});

test('every message is of the declared form and shows customer and feature', async () => {
  const world = memoryWorld([customer, meter, feature, usageAlert]);
  const request = () => world.request(testPrincipal());
  const customerRoutes = customers.routes as unknown as CustomerRoutes;
  const featureRoutes = features.routes as unknown as FeatureRoutes;
  const { id: customer_id } = await callRoute(customerRoutes['POST /customers'], request(), {
    body: { name: 'Ada', external_id: 'ada' },
  });
  const { id: feature_id } = await callRoute(featureRoutes['POST /features'], request(), {
    body: {
      ...{ name: 'Tokens', type: 'metered' },
      meter: { name: 'Tokens', event_name: 'tokens', aggregation: { type: 'COUNT' } },
    },
  });
  const thresholds = [{ type: 'percent', value: '80' }];
  const alert = await callRoute(usageAlertRoutes['POST /usage/alerts'], request(), {
    body: { customer_id, feature_id, usage_limit: '200', thresholds },
  });
  const look = seen('160', { next: february });
  await request().execute(usageAlert, alert.id, look);
  const path = { params: { id: alert.id } };
  const raised = { ...path, body: { usage_limit: '300' } };
  await callRoute(usageAlertRoutes['PUT /usage/alerts/{id}'], request(), raised);
  await callRoute(usageAlertRoutes['DELETE /usage/alerts/{id}'], request(), path);
  const messages = await published(request(), usageAlertPublicEvents, usageAlert, alert.id);
  assert.equal(
    messages.map(({ type }) => type),
    ['created', 'threshold_crossed', 'updated', 'deleted'].map((tail) => `usage_alert.${tail}`),
  );
  for (const { type, body } of messages) {
    const declared = usageAlertPublicEvents.types[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body, type);
    const shown = body as { customer: { id: string }; feature: { id: string; meter: object } };
    assert.equal([shown.customer.id, shown.feature.id], [customer_id, feature_id]);
    assert.ok(shown.feature.meter);
  }
});

test.run();
