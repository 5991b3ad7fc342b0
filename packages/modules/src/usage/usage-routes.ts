import {
  newRecord,
  type Records,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { invalidField, notFound, shiftedBy } from '@counterfoil/kernel';
import { customerReference, customerWith } from '../customers/index.ts';
import { type Aggregation, meter } from '../meters/index.ts';
import type { UsageOf } from './queries.ts';
import { type UsageAnswer, usageOf } from './usage-query.ts';
import {
  type MeterQuestionBody,
  meterQuestionSchema,
  type UsageAnswerBody,
  type UsageQuestionBody,
  usageAnswerSchema,
  usageQuestionSchema,
} from './usage-schema.ts';
import { usageValueView } from './usage-view.ts';

const tag = 'Usage';
const defaultMilliseconds = 30 * 86_400_000;

export const usageQuestionRoutes = {
  'POST /events/usage': route({
    summary: 'Count the events of a name',
    description: 'Whether or not a meter counts them, by any aggregation over a property.',
    operationId: 'getUsage',
    tag,
    status: 200,
    permission: 'event:read',
    body: usageQuestionSchema,
    response: usageAnswerSchema,
    example: {
      body: { event_name: 'tokens', aggregation_type: 'SUM', property_name: 'count' },
      names: { customer_id: 'cust' },
      texts: ['external_customer_id'],
    },
    handle: async (context, { body }) => {
      const { event_name } = body;
      const aggregation = aggregationOf(body);
      return await answer(context, { event_name, aggregation, filters: [] }, body);
    },
  }),
  'POST /events/usage/meter': route({
    summary: 'Count by a meter',
    description: 'What the meter counts, also of events that came before it was there.',
    operationId: 'getUsageByMeter',
    tag,
    status: 200,
    permission: 'event:read',
    body: meterQuestionSchema,
    response: usageAnswerSchema,
    example: {
      body: { meter_id: newRecord('meter') },
      names: { customer_id: 'cust' },
      texts: ['external_customer_id'],
    },
    handle: async (context, { body }) => {
      const counted = await context.recalled.load(meter, body.meter_id);
      if (!counted) throw notFound('meter', body.meter_id, 'meter_id');
      return await answer(
        context,
        { ...counted, aggregation: counted.aggregation as Aggregation },
        body,
      );
    },
  }),
} satisfies Routes;

/** The aggregation of a question, as a meter has it. */
const aggregationOf = (body: UsageQuestionBody): Aggregation => ({
  type: body.aggregation_type,
  field: body.property_name ?? null,
  expression: null,
  multiplier: body.multiplier ?? null,
  bucket_size: body.bucket_size ?? null,
  group_by: body.group_by_property ?? null,
});

interface Counted {
  readonly event_name: string;
  readonly aggregation: Aggregation;
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}

async function answer(
  context: RequestContext,
  { event_name, aggregation, filters }: Counted,
  body: Omit<MeterQuestionBody, 'meter_id'>,
): Promise<UsageAnswerBody> {
  const { customer, zone: ownZone } = await customerOf(context.recalled, body);
  const end = body.end_time ?? context.now;
  const start = body.start_time ?? shiftedBy(end, -defaultMilliseconds);
  if (start >= end) throw invalidField('/end_time', `must be after start_time, ${start}`);
  const zone = body.timezone ?? ownZone;
  const asked = Object.entries(body.filters ?? {}).map(([key, values]) => ({ key, values }));
  const size = body.window_size;
  const usage = await usageOf(context, {
    of: { eventName: event_name, customer },
    aggregation,
    filters: [...filters, ...asked],
    span: { start, end },
    zone,
    windows: size === undefined ? null : { size, zone, anchor: body.billing_anchor },
    fills: body.fill,
  });
  return answerView(aggregation, event_name, usage, size !== undefined);
}

/** The customer that a question is about, and the zone that it has. */
async function customerOf(
  records: Records,
  {
    customer_id,
    external_customer_id,
  }: Pick<MeterQuestionBody, 'customer_id' | 'external_customer_id'>,
): Promise<{ readonly customer: UsageOf['customer']; readonly zone: string }> {
  if (customer_id === undefined && external_customer_id === undefined) {
    return { customer: { kind: 'all' }, zone: 'UTC' };
  }
  if (customer_id === undefined && external_customer_id !== undefined) {
    const holder = await customerWith(records, external_customer_id);
    if (holder === null)
      return { customer: { kind: 'external', id: external_customer_id }, zone: 'UTC' };
  }
  const { id, timezone } = await customerReference(records, { customer_id, external_customer_id });
  return { customer: { kind: 'customer', id }, zone: timezone };
}

const answerView = (
  { type }: Aggregation,
  event_name: string,
  { value, windows }: UsageAnswer,
  isWindowed: boolean,
): UsageAnswerBody => ({
  type,
  event_name,
  ...usageValueView(value),
  ...(isWindowed
    ? { results: windows.map((one) => ({ window_size: one.start, ...usageValueView(one.value) })) }
    : {}),
});
