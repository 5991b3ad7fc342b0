import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  decimal,
  invalidField,
  millisecondsOf,
  notFound,
  type Span,
  zeroText,
} from '@counterfoil/kernel';
import { featureRecords } from '../features/index.ts';
import { costsheetTable, offer } from '../offers/index.ts';
import { askedFilters, usageInStretches, usageTables } from '../usage/index.ts';
import { type CostSource, costsOf, metersOf, type UsageMoment, type User } from './costs.ts';
import { type Entry, marginsBy, marginsOf, planOf } from './margins.ts';
import { type PartOfLine, revenueOf, wholeLine } from './revenue.ts';
import { type CostAnalytics, type CostAnalyticsQuestion, daysMaximum } from './schema.ts';
import { withRecords } from './shown-records.ts';
import { partOfUsage } from './usage-revenue.ts';
import { customersOf } from './whose.ts';

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
  const filters = askedFilters(asked);
  const ofUsage = filters.length > 0 ? partOfUsage(context, filters, moment) : wholeLine;
  const source: Source = {
    prices: sheet.usage.filter(({ meter_id }) => isAsked(meter_id)),
    meters: await metersOf(context, sheet.usage),
    ...{ moment, filters },
    partOf: async (line, brought) => (isAsked(line.meter_id) ? ofUsage(line, brought) : null),
  };
  const items: CostAnalytics['items'] = [];
  const all: Entry[] = [];
  // One after the other: each reads usage.
  for (const user of customers) {
    const entries = await entriesOf(context, user, span, source);
    items.push({
      customer_id: user.customer.id,
      external_customer_id: user.customer.external_id,
      margins: marginsOf(entries),
    });
    all.push(...entries);
  }
  const answer = {
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
  return withRecords(context, answer, sheet.usage, asked.expand);
}

/** Lines that bring money, and usage that costs some. */
interface Source extends CostSource {
  readonly partOf: PartOfLine;
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
  user: User,
  span: Span,
  source: Source,
): Promise<readonly Entry[]> {
  const revenue = await revenueOf(context, user.ids, span, source.partOf);
  const costs = await costsOf(context, user, span, source);
  return [
    ...revenue.flatMap(({ amount, ...of }): Entry[] =>
      amount === null ? [] : [{ ...of, revenue: amount, cost: nothing }],
    ),
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
