import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import type { ChargesOf } from '../analytics/charged-usage.ts';
import { detailedUsage } from './detailed-usage.ts';
import { meterUsage } from './meter-usage.ts';
import {
  detailedUsageQuestionSchema,
  detailedUsageSchema,
  type MeterUsage,
  meterUsageQuestionSchema,
  meterUsageSchema,
  meterUsagesQuestionSchema,
  meterUsagesSchema,
} from './schema.ts';

const common = { tag: 'Usage', status: 200, permission: 'event:read' } as const;
const asked = {
  external_customer_id: 'acme',
  aggregation_type: 'SUM',
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2026-02-01T00:00:00Z',
} as const;

/** The usage that meters count, in the form of the public contract. */
export const meterUsageRoutes = (chargesOf: ChargesOf) =>
  ({
    'POST /meter-usage/query': route({
      ...common,
      summary: 'Get what a meter counts',
      description: 'With the events that it counts.',
      operationId: 'queryMeterUsage',
      body: meterUsageQuestionSchema,
      response: meterUsageSchema,
      example: {
        body: { ...asked, meter_id: newRecord('meter') },
        texts: ['external_customer_id'],
      },
      handle: (context, { body: { meter_id, ...question } }) =>
        meterUsage(context, meter_id, question, 'meter_id'),
    }),
    'POST /meter-usage/analytics': route({
      ...common,
      summary: 'Get what several meters count',
      description: 'In the order of the meters.',
      operationId: 'getMeterUsageAnalytics',
      body: meterUsagesQuestionSchema,
      response: meterUsagesSchema,
      example: {
        body: { ...asked, meter_ids: [newRecord('meter')] },
        names: { meter_ids: 'meter' },
        texts: ['external_customer_id'],
      },
      handle: async (context, { body: { meter_ids, ...question } }) => {
        const items: MeterUsage[] = [];
        for (const id of meter_ids)
          items.push(await meterUsage(context, id, question, 'meter_ids'));
        return { items };
      },
    }),
    'POST /meter-usage/detailed-analytics': route({
      ...common,
      summary: 'Get what meters count, with the values they look at',
      description: 'By meter, and by source and properties where asked.',
      operationId: 'getDetailedMeterUsage',
      body: detailedUsageQuestionSchema,
      response: detailedUsageSchema,
      example: {
        body: { external_customer_id: 'acme', group_by: ['properties.model'], window_size: 'DAY' },
        texts: ['external_customer_id', 'feature_ids', 'meter_ids'],
      },
      handle: (context, { body }) => detailedUsage(context, chargesOf, body),
    }),
  }) satisfies Routes;
