import { newRecord, type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import { type Aggregation, meter } from '../meters/index.ts';
import { askedCustomer } from './asked-customer.ts';
import { askedSpan } from './asked-span.ts';
import { groupsOfFilters } from './groupings/filtered-readings.ts';
import { keepForTheNext } from './groupings/keep.ts';
import { type UsageAnswer, usageOf } from './usage-query.ts';
import type { UsageQuestion } from './usage-question.ts';
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
  const { customer, zone: ownZone } = await askedCustomer(context, body);
  const zone = body.timezone ?? ownZone;
  const asked = Object.entries(body.filters ?? {}).map(([key, values]) => ({ key, values }));
  const size = body.window_size;
  const question: UsageQuestion = {
    of: { eventName: event_name, customer },
    aggregation,
    filters: [...filters, ...asked],
    span: askedSpan(context.now, body),
    zone,
    windows: size === undefined ? null : { size, zone, anchor: body.billing_anchor },
    fills: body.fill,
  };
  const usage = await usageOf(context, question);
  const { of, span } = question;
  const groups = groupsOfFilters(question);
  const answered = { of, span, events: usage.eventsCounted };
  await keepForTheNext(context, groups?.definition ?? null, answered);
  return answerView(aggregation, event_name, usage, size !== undefined);
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
