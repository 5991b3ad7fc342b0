import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  decimal,
  existing,
  type Instant,
  invalidField,
  type Span,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { aggregateEntitlements, type MeteredEntitlement } from '../../entitlements/index.ts';
import { featuresById } from '../../features/index.ts';
import { meter } from '../../meters/index.ts';
import { priceFieldsOf } from '../../offers/index.ts';
import { displayTotal, priceTermsOf } from '../../pricing/index.ts';
import { type Allowance, type AllowanceRhythm, rate } from '../../rating/index.ts';
import { usageTables } from '../../usage/index.ts';
import { existingSubscription } from '../decisions.ts';
import { entitlementsAt } from '../entitlements/grants.ts';
import { earlierEnd, type Line } from '../lines/line.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { currentPeriod } from '../time/steps.ts';
import { lineItemView } from '../view.ts';
import { type Measured, plainUsage, usageUnder } from './measure.ts';
import type { UsageCharges } from './schema.ts';

/** A question about the usage of a subscription. */
export interface UsageQuestion {
  readonly subscription_id: string;
  readonly start_time?: Instant | null | undefined;
  readonly end_time?: Instant | null | undefined;
  readonly lifetime_usage?: boolean | null | undefined;
}

/**
 * The charges for the usage of a subscription, one for each line of usage that lies in the span: gross, and net of what its
 * entitlements make free (specification §4.13, E 6, D70). Lines come by the name of their meter.
 */
export async function usageCharges(
  context: RequestContext,
  question: UsageQuestion,
): Promise<UsageCharges> {
  const { subscription_id: id } = question;
  const state = existingSubscription(await context.recalled.load(subscription, id), id);
  const span = spanOf(state, question, context.now);
  const position = await context.facts.shown(usageTables);
  const allowances = await allowancesOf(context, state);
  const charges: UsageCharges['charges'] = [];
  for (const line of state.lines.filter(({ price }) => price.type === 'USAGE')) {
    const part = partOf(line, state, span);
    if (part !== null) {
      charges.push(await chargeOf(context, { state, line, part, position, allowances }));
    }
  }
  charges.sort(
    (left, right) =>
      inOrder(left.meter_display_name, right.meter_display_name) ||
      inOrder(left.subscription_line_item_id, right.subscription_line_item_id),
  );
  const gross = sumOf(charges.map(({ exact_amount }) => exact_amount));
  return {
    amount: +gross,
    exact_amount: gross,
    net_amount: sumOf(charges.map(({ net_amount }) => net_amount)),
    currency: state.currency,
    display_amount: displayTotal(gross, state.currency),
    start_time: span.start,
    end_time: span.end,
    has_overage: false,
    charges,
    position,
  };
}

const inOrder = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

const sumOf = (amounts: readonly string[]): DecimalText =>
  textOf(amounts.reduce((sum, amount) => sum.plus(decimal(amount)), zero));

function spanOf(state: Subscription, question: UsageQuestion, now: Instant): Span {
  if (question.lifetime_usage) {
    return { start: state.start_date, end: now > state.start_date ? now : state.start_date };
  }
  const period = currentPeriod(state);
  const span = {
    start: question.start_time ?? period.start,
    end: question.end_time ?? period.end,
  };
  if (span.start > span.end) throw invalidField('/end_time', 'must not be before start_time');
  return span;
}

/** The part of a span for which a line is charged; null for none. */
function partOf(line: Line, { end_date }: Subscription, span: Span): Span | null {
  const last = earlierEnd(line.end_date, end_date);
  const start = line.start_date > span.start ? line.start_date : span.start;
  const end = last !== null && last < span.end ? last : span.end;
  return start < end ? { start, end } : null;
}

interface Charging {
  readonly state: Subscription;
  readonly line: Line;
  readonly part: Span;
  readonly position: string;
  readonly allowances: ReadonlyMap<string, Allowance>;
}

async function chargeOf(
  context: RequestContext,
  { state, line, part, position, allowances }: Charging,
): Promise<UsageCharges['charges'][number]> {
  const { price } = line;
  const counted = existing(await context.recalled.load(meter, price.meter_id ?? ''), 'meter');
  const { timezone: zone, customer_id: customerId } = state;
  const measured: Measured = { meter: counted, customerId, zone, position };
  const currency = price.currency as Currency;
  const request = {
    kind: 'usage' as const,
    currency,
    terms: priceTermsOf(priceFieldsOf(price)),
    period: part,
    commitment: null,
  };
  const plain = await plainUsage(context, measured, part);
  const gross = rate({ ...request, usage: plain, allowance: null });
  const allowance = allowances.get(counted.id) ?? null;
  const net =
    allowance === null
      ? gross
      : rate({
          ...request,
          allowance,
          usage: await usageUnder(
            context,
            measured,
            part,
            allowance,
            rhythmOf(state, part, allowance),
          ),
        });
  const free = decimal(gross.quantity).minus(decimal(net.quantity));
  return {
    subscription_line_item_id: line.id,
    meter_id: counted.id,
    meter_display_name: line.meter_display_name ?? counted.name,
    filter_values: Object.fromEntries(counted.filters.map(({ key, values }) => [key, [...values]])),
    quantity: +gross.quantity,
    exact_quantity: gross.quantity,
    free_quantity: textOf(free.cmp(zero) < 0 ? zero : free),
    amount: +gross.amount,
    exact_amount: gross.amount,
    net_amount: net.amount,
    currency,
    display_amount: displayTotal(gross.amount, currency),
    is_overage: false,
    price: lineItemView(state, state, line).price,
  };
}

/** The usage that the entitlements of a subscription make free, by meter: of several features of one meter the first. */
async function allowancesOf(
  context: RequestContext,
  state: Subscription,
): Promise<ReadonlyMap<string, Allowance>> {
  const granted = aggregateEntitlements(entitlementsAt(state, context.now), context.now).filter(
    (each): each is MeteredEntitlement => each.feature_type === 'metered',
  );
  const features = await featuresById(
    context,
    granted.map(({ feature_id }) => feature_id),
  );
  const allowances = new Map<string, Allowance>();
  for (const { feature_id, usage_limit, usage_reset_period } of granted) {
    const meterId = features.get(feature_id)?.meter_id;
    if (meterId === undefined || allowances.has(meterId)) continue;
    const limit = usage_limit === null ? null : (String(usage_limit) as DecimalText);
    allowances.set(meterId, { limit, resets: usage_reset_period });
  }
  return allowances;
}

/**
 * The rhythm in which an allowance starts over. One that goes with the billing period is counted in its units where
 * the span is not within the period that runs.
 */
function rhythmOf(state: Subscription, part: Span, { resets }: Allowance): AllowanceRhythm {
  const { cycle, timezone: zone, trial, start_date } = state;
  const period = currentPeriod(state);
  const isWithin = period.start <= part.start && part.end <= period.end;
  const own = resets ?? (isWithin || cycle.count > 1 ? null : cycle.unit);
  const billing = isWithin ? { start: period.start, end: period.end } : part;
  // Nothing is used up before the end of a trial.
  const start = trial?.end ?? start_date;
  return { resets: own, billing, anchor: cycle.anchor, zone, start };
}
