import type { RequestContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  type Instant,
  invalidField,
  invalidOperation,
  type PriceId,
  type SubscriptionLineId,
  type WindowSize,
} from '@counterfoil/kernel';
import { meter } from '../../meters/index.ts';
import { asksForFigures, type PriceRecord, repricedFigures } from '../../offers/index.ts';
import { foundById } from '../../record/index.ts';
import { asksForCommitment, lineCommitmentOf } from '../commitments/requests.ts';
import { bucketsFault } from '../commitments/time-buckets.ts';
import { extraLine } from '../creation/extra-line.ts';
import { withMeterName } from '../creation/offered.ts';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import { lineItemTable } from '../projection.ts';
import { subscription } from '../subscription.ts';
import { addLineItem, changeQuantities, endLineItem, updateLineItem } from './decisions.ts';
import { type LineData, ownPriceOf, type SoldPrice } from './line.ts';
import type { AddLineItem, EndLineItem, QuantityChangeParams, UpdateLineItem } from './schema.ts';

/** The subscription that a line is of. Throws 404. */
export async function subscriptionOfLine(context: RequestContext, lineId: string): Promise<string> {
  const { resource } = await foundById(context, lineItemTable, 'line', lineId);
  return resource.subscription_id;
}

/** An instant that a request leaves open: null for that of its decision. */
type Open = Instant | null;

/** The command that adds a line, after all that it refers to was found. */
export async function addingLine(
  context: RequestContext,
  id: string,
  body: AddLineItem,
  at: Open,
  pointer = '',
): Promise<SubscriptionDecision> {
  const line_id: SubscriptionLineId = context.newId('subs_line');
  const price_id: PriceId = context.newId('price');
  const current = existingSubscription(await context.load(subscription, id), id);
  const { currency, plan_name, cycle, start_date: start } = current;
  const rhythm = { unit: cycle.unit, count: cycle.count };
  const ordering = { id: current.id, currency, plan_name, rhythm, start, pointer, price_id };
  const { subscription_phase_id, ...asked } = body;
  const line = await extraLine(context, ordering, { ...asked, proration_behavior: undefined });
  const ordered = await withMeterName(context, line);
  const proration = body.proration_behavior ?? current.proration_behavior;
  return addLineItem(id, line_id, ordered, {
    ...{ proration, at },
    phase_id: subscription_phase_id || null,
  });
}

/** The command that ends a line. */
export const endingLine = (
  id: string,
  line_id: string,
  { effective_from, proration_behavior }: EndLineItem,
  at: Open,
): SubscriptionDecision =>
  endLineItem(id, {
    line_id,
    effective_from: effective_from ?? null,
    quoted: at,
    proration: proration_behavior ?? 'none',
  });

/** The command that gives lines other quantities. */
export function changingQuantities(
  context: RequestContext,
  id: string,
  { line_items }: QuantityChangeParams,
  at: Open,
): SubscriptionDecision {
  const changes = line_items.map((item, index) => ({
    line_id: item.id,
    quantity: item.quantity as DecimalText,
    next_id: context.newId('subs_line'),
    effective_date: item.effective_date ?? null,
    pointer: `/quantity_change_params/line_items/${index}`,
  }));
  if (new Set(line_items.map((item) => item.id)).size < line_items.length) {
    throw invalidOperation('A line is named twice: each has one quantity.', {
      reason: 'unsuitable',
    });
  }
  return changeQuantities(id, changes, { proration: 'create_prorations', quoted: at });
}

/** The size of the windows of the meter of a line; null where it has none, or no meter. */
async function windowsOf(context: RequestContext, lineId: string): Promise<WindowSize | null> {
  const { resource } = await foundById(context, lineItemTable, 'line', lineId);
  const counted = resource.meter_id ? await context.load(meter, resource.meter_id) : null;
  return (counted?.aggregation.bucket_size ?? null) as WindowSize | null;
}

/** A commitment, unless it is one to each window and does not fit those of the meter (E 14.4): then a Problem. */
function fitting(
  commitment: LineData['commitment'],
  size: WindowSize | null,
): LineData['commitment'] {
  const fault = commitment?.windowed ? bucketsFault(commitment.time_buckets, size) : null;
  if (fault === null) return commitment;
  const member = commitment?.time_buckets.length
    ? 'commitment_time_buckets'
    : 'commitment_windowed';
  throw invalidField(`/${member}`, fault);
}

/** The command that gives a line another price, another commitment, or other notes. */
export async function updatingLine(
  context: RequestContext,
  id: string,
  line_id: string,
  { metadata, effective_from, proration_behavior, ...figures }: UpdateLineItem,
  at: Open,
): Promise<SubscriptionDecision> {
  const size = asksForCommitment(figures) ? await windowsOf(context, line_id) : null;
  const price_id: PriceId = context.newId('price');
  const repriced = (price: SoldPrice): SoldPrice =>
    ownPriceOf(price, {
      id: price_id,
      figures: repricedFigures(price as unknown as PriceRecord, {
        ...figures,
        metadata: undefined,
      }),
      subscription_id: id as SoldPrice['entity_id'],
    });
  return updateLineItem(id, {
    line_id,
    next_id: context.newId('subs_line'),
    price: asksForFigures(figures) ? repriced : null,
    commitment: asksForCommitment(figures)
      ? ({ price, commitment: before }, rhythm) =>
          fitting(lineCommitmentOf(figures, { price, rhythm, pointer: '', before }), size)
      : null,
    effective_from: effective_from ?? null,
    quoted: at,
    metadata,
    proration: proration_behavior ?? undefined,
  });
}
