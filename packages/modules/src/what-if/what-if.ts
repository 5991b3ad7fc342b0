import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  type Decimal,
  decimal,
  type Instant,
  invalidField,
  invalidOperation,
  millisecondsOf,
  notFound,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { customer } from '../customers/index.ts';
import { invoiceTable } from '../invoices/index.ts';
import { offer } from '../offers/index.ts';
import { type RatingMoment, subscriptionTable } from '../subscriptions/index.ts';
import { usageTables } from '../usage/index.ts';
import { customersMaximum, daysMaximum, type WhatIf, type WhatIfAnswer } from './schema.ts';
import { type SimulatedLine, type Simulation, simulatedLines, sumOf } from './simulated.ts';

/** Invoices of one customer that are looked at, and subscriptions of a segment. */
const invoicesMaximum = 500;
const subscribersMaximum = 10_000;

/** Usage as its tables show it by now. */
const shownUsage = async (context: RequestContext): Promise<RatingMoment> => ({
  position: await context.facts.shown(usageTables),
});

/**
 * Prices the history of customers under a plan: of those who are named, or of a page of those who are subscribed to another one. Nothing is written. Throws
 * 404, and 400 for a span that is too long or not over, and where events of the usage are dropped.
 */
export async function priceUnderPlan(
  context: RequestContext,
  plan_id: string,
  asked: WhatIf,
  momentOf = shownUsage,
): Promise<WhatIfAnswer> {
  const plan = await context.load(offer, plan_id);
  if (plan?.root.kind !== 'PLAN') throw notFound('plan', plan_id);
  const span = spanOf(asked, context.now);
  const { ids, total } = await customersOf(context, asked);
  const moment = await momentOf(context);
  const { currency, billing_period } = asked;
  const simulation: Simulation = { plan_id, span, currency, billing_period };
  const items: WhatIfAnswer['items'] = [];
  let [would, was] = [zero, zero];
  // One after the other: each reads usage.
  for (const customer_id of ids) {
    const lines = await simulatedLines(context, customer_id, simulation, moment);
    const billed = await billedTo(context, customer_id, simulation);
    const all = sumOf(lines);
    [would, was] = [would.plus(all), was.plus(billed)];
    items.push({
      customer_id,
      fixed: textOf(sumOf(lines.filter(({ is_usage }) => !is_usage))),
      usage: textOf(sumOf(lines.filter(({ is_usage }) => is_usage))),
      ...sumsOf(all, billed),
      lines: together(lines),
    });
  }
  return {
    ...{ plan_id, currency, start_time: span.start, end_time: span.end },
    position: moment.position,
    items,
    ...sumsOf(would, was),
    pagination: { limit: asked.limit, offset: asked.offset, total },
  };
}

const sumsOf = (would: Decimal, was: Decimal) => ({
  would_be: textOf(would),
  was: textOf(was),
  difference: textOf(would.minus(was)),
});

const dayMilliseconds = 86_400_000;

function spanOf({ start_time, end_time }: WhatIf, now: Instant) {
  if (end_time <= start_time) throw invalidField('/end_time', 'must be after start_time');
  if (end_time > now) throw invalidField('/end_time', 'must not be in the future');
  const length = millisecondsOf(end_time) - millisecondsOf(start_time);
  if (length > daysMaximum * dayMilliseconds) {
    throw invalidField('/end_time', `must be at most ${daysMaximum} days after start_time`);
  }
  return { start: start_time, end: end_time };
}

/** The customers of a page, each once. */
async function customersOf(
  context: RequestContext,
  { customer_ids, subscribed_to, limit, offset }: WhatIf,
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  if (customer_ids) {
    const ids = [];
    for (const id of new Set(customer_ids)) {
      if ((await context.load(customer, id)) !== null) ids.push(id);
    }
    return { ids: ids.slice(offset, offset + limit), total: ids.length };
  }
  const subscriptions = await context.read.ids(
    subscriptionTable,
    [
      ...where('plan_id', 'eq', subscribed_to),
      ...where('subscription_status', 'in', ['active', 'trialing', 'paused']),
    ],
    subscribersMaximum + 1,
  );
  if (subscriptions.length > subscribersMaximum) {
    throw invalidOperation(
      `More than ${subscribersMaximum} are subscribed to ${subscribed_to}. Name customers instead.`,
      { reason: 'limit_reached', limit: subscribersMaximum },
    );
  }
  const states = await context.read.findMany(subscriptionTable, subscriptions);
  const all = [...new Set([...states.values()].map(({ customer_id }) => customer_id))].toSorted();
  const count = Math.min(limit, customersMaximum);
  return { ids: all.slice(offset, offset + count), total: all.length };
}

/** The lines that final invoices have charged a customer for a span, before discounts and taxes. */
async function billedTo(
  context: RequestContext,
  customer_id: string,
  { span, currency }: Simulation,
): Promise<Decimal> {
  const { items, pagination } = await context.read.list(
    invoiceTable,
    { limit: invoicesMaximum, offset: 0 },
    [
      ...where('customer_id', 'eq', customer_id),
      ...where('currency', 'eq', currency),
      ...where('invoice_status', 'in', ['FINALIZED']),
    ],
  );
  if (pagination.total > invoicesMaximum) {
    throw invalidOperation(`${customer_id} has more than ${invoicesMaximum} invoices.`, {
      reason: 'limit_reached',
      limit: invoicesMaximum,
    });
  }
  return items
    .flatMap(({ subscription_id, line_items }) =>
      subscription_id === null ? [] : (line_items ?? []),
    )
    .filter(
      ({ period_start }) =>
        period_start !== null && span.start <= period_start && period_start < span.end,
    )
    .reduce((sum, { amount }) => sum.plus(decimal(amount)), zero);
}

/** The lines of all periods, by their names. */
const together = (lines: readonly SimulatedLine[]): WhatIfAnswer['items'][number]['lines'] =>
  [...Map.groupBy(lines, ({ display_name }) => display_name)].map(([display_name, same]) => ({
    display_name,
    quantity: textOf(same.reduce((sum, { quantity }) => sum.plus(quantity), zero)),
    amount: textOf(sumOf(same)),
  }));
