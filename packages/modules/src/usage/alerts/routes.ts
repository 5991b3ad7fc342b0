import { newRecord, type RequestContext, type Routes } from '@counterfoil/engine/define';
import { type DecimalText, invalidField, type UsageAlertId, writable } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../../customers/index.ts';
import { featureReference } from '../../features/index.ts';
import { type MeterRecord, meterReference } from '../../meters/index.ts';
import { equalTo, recordRoutes } from '../../record/index.ts';
import { usualPeriod } from '../current/current-usage.ts';
import { runningPeriod } from '../current/running-period.ts';
import { createUsageAlert, deleteUsageAlert, updateUsageAlert } from './commands.ts';
import { usageAlertRecords } from './records.ts';
import { type CreateUsageAlert, createUsageAlertSchema, updateUsageAlertSchema } from './schema.ts';
import type { UsageLimit } from './thresholds.ts';

const routes = recordRoutes(usageAlertRecords, { tag: 'Usage', right: 'usage_alert' });

const id = z.string().max(255);

const filters = {
  customer_id: equalTo('customer_id', id, { names: 'cust' }),
  feature_id: equalTo('feature_id', id, { names: 'feat' }),
} as const;

/** The meter whose usage an alert looks at. 404 for an unknown meter or feature, 400 for a feature without meter. */
async function lookedAt(
  context: RequestContext,
  { feature_id, meter_id }: CreateUsageAlert,
): Promise<{ readonly counted: MeterRecord; readonly featureId: MeterFeature }> {
  if (feature_id === undefined) {
    return { counted: await meterReference(context, meter_id ?? ''), featureId: null };
  }
  const feature = await featureReference(context, feature_id);
  if (feature.meter_id === null) {
    throw invalidField('/feature_id', 'is of a feature that is not metered');
  }
  return { counted: await meterReference(context, feature.meter_id), featureId: feature.id };
}

type MeterFeature = Awaited<ReturnType<typeof featureReference>>['id'] | null;

const limitOf = (value: DecimalText | null): UsageLimit | null =>
  value === null ? null : { type: 'given', value };

/** The command that a request to create an alert means. */
async function creation(context: RequestContext, alertId: UsageAlertId, body: CreateUsageAlert) {
  const record = await customerReference(context, body);
  const customer = writable(record, 'customer', record.id);
  const { counted, featureId } = await lookedAt(context, body);
  const reset_period = body.reset_period ?? usualPeriod(counted);
  return createUsageAlert({
    id: alertId,
    customer_id: customer.id,
    feature_id: featureId,
    meter_id: counted.id,
    event_name: counted.event_name,
    reset_period,
    period: runningPeriod(reset_period, context.now, customer.timezone),
    limit: limitOf(body.usage_limit ?? null),
    thresholds: body.thresholds,
  });
}

/** The routes of usage alerts (D52). */
export const usageAlertRoutes = {
  'POST /usage/alerts': routes.create({
    summary: 'Create a usage alert',
    description:
      'What is crossed is told once in a period, as `usage_alert.threshold_crossed`. Usage that is there already counts.',
    body: createUsageAlertSchema,
    example: {
      body: {
        customer_id: newRecord('cust'),
        meter_id: newRecord('meter'),
        usage_limit: '1000',
        thresholds: [
          { type: 'percent', value: '80' },
          { type: 'absolute', value: '1000' },
        ],
      },
      names: { external_customer_id: 'cust.external_id', feature_id: 'feat' },
    },
    decide: (alertId, body, context) => ({ prepare: () => creation(context, alertId, body) }),
  }),
  'GET /usage/alerts': routes.list(filters),
  'GET /usage/alerts/{id}': routes.get({
    summary: 'Get a usage alert',
    description: 'With what was crossed in its period.',
  }),
  'PUT /usage/alerts/{id}': routes.change({
    summary: 'Update a usage alert',
    description: 'A threshold whose level changes can be crossed again in the period.',
    body: updateUsageAlertSchema,
    example: { body: { thresholds: [{ type: 'absolute', value: '500' }] } },
    decide: (alertId, { usage_limit: limit, thresholds }) =>
      updateUsageAlert(alertId, {
        limit: limit === undefined ? undefined : limitOf(limit),
        thresholds,
      }),
  }),
  'DELETE /usage/alerts/{id}': routes.end({
    summary: 'Delete a usage alert',
    decide: deleteUsageAlert,
  }),
} satisfies Routes;
