import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  decimal,
  invalidField,
  millisecondsOf,
  notFound,
  type Span,
  zeroText,
} from '@counterfoil/kernel';
import { type CustomerRecord, customer, customerRecords } from '../customers/index.ts';
import { featureRecords } from '../features/index.ts';
import { costsheetTable, offer } from '../offers/index.ts';
import { usageInStretches, usageTables } from '../usage/index.ts';
import { type CostSource, costsOf, metersOf, type UsageMoment } from './costs.ts';
import { type Entry, marginsBy, marginsOf, planOf } from './margins.ts';
import { revenueOf } from './revenue.ts';
import { type CostAnalytics, type CostAnalyticsQuestion, daysMaximum } from './schema.ts';

/** Usage as its tables show it by now. */
const shownUsage = async (context: RequestContext): Promise<UsageMoment> => ({
  position: await context.facts.shown(usageTables),
  usageIn: usageInStretches,
});

/**
 * Tells what customers have brought in a span and what their usage has cost by the active costsheet, by customer, plan and feature, in each currency: a page of
 * customers, whose pages add up. Nothing is written. Throws 404 without a costsheet or for an unknown feature, and 400 for a span that is
 * empty or too long, and for a customer with too many invoices.
 */
export async function costAnalytics(
  context: RequestContext,
  asked: CostAnalyticsQuestion,
  momentOf = shownUsage,
): Promise<CostAnalytics> {
  const span = spanOf(asked);
  const sheet = await activeSheet(context);
  const { items: customers, pagination } = await customersOf(context, asked);
  const features = await featuresAsked(context, asked);
  const moment = await momentOf(context);
  const isAsked = (meterId: string | null) =>
    features === null || (meterId !== null && features.has(meterId));
  const source: CostSource = {
    prices: sheet.usage.filter(({ meter_id }) => isAsked(meter_id)),
    meters: await metersOf(context, sheet.usage),
    moment,
  };
  const items: CostAnalytics['items'] = [];
  const all: Entry[] = [];
  // One after the other: each reads usage.
  for (const user of customers) {
    const entries = (await entriesOf(context, user, span, source)).filter(({ meter_id }) =>
      isAsked(meter_id),
    );
    items.push({
      customer_id: user.id,
      external_customer_id: user.external_id,
      margins: marginsOf(entries),
    });
    all.push(...entries);
  }
  return {
    ...{ costsheet_id: sheet.id, start_time: span.start, end_time: span.end },
    position: moment.position,
    items,
    totals: marginsOf(all),
    plans: marginsBy(all, ({ plan_id }) => plan_id).map(([plan_id, margin]) => ({
      plan_id,
      ...margin,
    })),
    features: await byFeature(context, all),
    fixed_price_ids: sheet.fixed,
    pagination,
  };
}

const dayMilliseconds = 86_400_000;

function spanOf({ start_time, end_time }: CostAnalyticsQuestion): Span {
  if (end_time <= start_time) throw invalidField('/end_time', 'must be after start_time');
  if (millisecondsOf(end_time) - millisecondsOf(start_time) > daysMaximum * dayMilliseconds) {
    throw invalidField('/end_time', `must be at most ${daysMaximum} days after start_time`);
  }
  return { start: start_time, end: end_time };
}

/** The newest costsheet that is published, with all the prices that it ever had (D19). */
async function activeSheet(context: RequestContext) {
  const newest = await context.read.first(costsheetTable, where('status', 'eq', 'published'));
  const id = newest?.resource.id;
  const state = id === undefined ? null : await context.load(offer, id);
  if (id === undefined || state === null) throw notFound('costsheet', 'published', 'status');
  const kept = state.prices.filter(({ status }) => status === 'published');
  return {
    id,
    usage: kept.filter(({ type }) => type === 'USAGE'),
    fixed: kept.filter(({ type }) => type === 'FIXED').map((price) => price.id as string),
  };
}

async function customersOf(
  context: RequestContext,
  { customer_id, external_customer_id, limit, offset }: CostAnalyticsQuestion,
) {
  if (customer_id !== undefined || external_customer_id !== undefined) {
    const found = await customerNamed(context, customer_id, external_customer_id);
    const items = found !== null && offset === 0 ? [found] : [];
    return { items, pagination: { limit, offset, total: found === null ? 0 : 1 } };
  }
  const page = { limit, offset };
  const inUse = where('status', 'eq', 'published');
  const { items, pagination } = await context.read.list(customerRecords.table, page, inUse);
  return { items, pagination };
}

/** The customer who has the ids that are given; null where nobody has. */
async function customerNamed(
  context: RequestContext,
  customerId: string | undefined,
  externalId: string | undefined,
): Promise<CustomerRecord | null> {
  const id = customerId ?? (await context.holderOf(customer, 'external_id', externalId ?? ''));
  const found = id === null ? null : await context.load(customer, id);
  const isNamed = externalId === undefined || found?.external_id === externalId;
  return isNamed ? found : null;
}

/** The meters of the features that are asked for; null: all. Throws 404 naming a feature that there is not. */
async function featuresAsked(
  context: RequestContext,
  { feature_ids }: CostAnalyticsQuestion,
): Promise<ReadonlySet<string> | null> {
  if (feature_ids === undefined) return null;
  const found = await context.read.findMany(featureRecords.table, feature_ids);
  for (const [index, id] of feature_ids.entries()) {
    if (!found.has(id)) throw notFound('feature', id, `feature_ids.${index}`);
  }
  return new Set([...found.values()].flatMap(({ meter_id }) => meter_id ?? []));
}

const nothing = decimal(zeroText);

async function entriesOf(
  context: RequestContext,
  user: Parameters<typeof costsOf>[1],
  span: Span,
  source: CostSource,
): Promise<readonly Entry[]> {
  const revenue = await revenueOf(context, user.id, span);
  const costs = await costsOf(context, user, span, source);
  return [
    ...revenue.map(({ amount, ...of }): Entry => ({ ...of, revenue: amount, cost: nothing })),
    ...costs.map(
      ({ amount, currency, meter_id }): Entry => ({
        ...{ currency, meter_id, plan_id: planOf(revenue, meter_id) },
        ...{ revenue: nothing, cost: amount },
      }),
    ),
  ];
}

/** Features of one meter that are named. */
const featuresMaximum = 100;

async function byFeature(
  context: RequestContext,
  entries: readonly Entry[],
): Promise<CostAnalytics['features']> {
  const margins = marginsBy(entries, ({ meter_id }) => meter_id);
  const features = new Map<string, string[]>();
  for (const id of new Set(margins.flatMap(([meterId]) => meterId ?? []))) {
    const page = { limit: featuresMaximum, offset: 0 };
    const { items } = await context.read.list(
      featureRecords.table,
      page,
      where('meter_id', 'eq', id),
    );
    features.set(
      id,
      items.map((each) => each.id as string),
    );
  }
  return margins.map(([meter_id, margin]) => ({
    meter_id,
    feature_ids: features.get(meter_id ?? '') ?? [],
    ...margin,
  }));
}
