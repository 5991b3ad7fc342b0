import {
  type DecimalText,
  type Instant,
  instantSchema,
  metadataSchema,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { priceData, priceFieldsOf } from '../../offers/index.ts';
import { priceTermsOf } from '../../pricing/index.ts';
import type { BillingPeriod, ChargedLine, ChargedSpan } from '../settlement/index.ts';
import { lineOriginSchema } from '../values.ts';

const instant = z.string().transform((text) => text as Instant);

/** The price of a line as it was sold: nothing changes in it any more, whatever becomes of the plan. */
export const soldPriceData = priceData.extend({
  entity_type: z.enum(['PLAN', 'ADDON', 'SUBSCRIPTION']),
});
export type SoldPrice = z.output<typeof soldPriceData>;

/** A line as its events carry it. Its identity is its id, never that of the price (ADR 41). */
export const lineData = z.object({
  id: referenceSchema('subs_line'),
  entity_type: lineOriginSchema,
  entity_id: z.string(),
  /** The name of the plan or the add-on when it was sold. */
  entity_name: z.string(),
  addon_association_id: z.string().nullable(),
  price: soldPriceData,
  meter_display_name: z.string().nullable(),
  display_name: z.string(),
  quantity: z.string().transform((text) => text as DecimalText),
  /** Charged from here on. */
  start_date: instantSchema,
  /** Charged until right before here; null: as long as the subscription. */
  end_date: instantSchema.nullable(),
  /** Its own periods, where they are longer than those of the subscription; null: it goes with those. */
  own: z.object({ anchor: instant, first: z.object({ start: instant, end: instant }) }).nullable(),
  metadata: metadataSchema,
});
export type LineData = z.output<typeof lineData>;

/** A line of a subscription that can still be charged. */
export interface Line extends LineData {
  /** The charges for spans that are still running: what a credit can be of. */
  readonly charged: readonly ChargedSpan[];
}

/** A line that begins. */
export const newLine = (data: LineData): Line => ({ ...data, charged: [] });

/** The line as settlements see it, cut at the end of its subscription. */
export const chargedLine = (line: Line, subscriptionEnd: Instant | null): ChargedLine => ({
  line_item_id: line.id,
  charge: line.price.type === 'FIXED' ? 'fixed' : 'usage',
  invoiced: line.price.invoice_cadence,
  period: billedEvery(line.price),
  own: line.own,
  terms: priceTermsOf(priceFieldsOf(line.price)),
  quantity: line.quantity,
  start: line.start_date,
  end: earlierEnd(line.end_date, subscriptionEnd),
  charged: line.charged,
});

/** The rhythm in which a price is charged. */
export const billedEvery = ({
  billing_period: unit,
  billing_period_count: count,
}: Pick<SoldPrice, 'billing_period' | 'billing_period_count'>): BillingPeriod | 'ONETIME' =>
  unit === 'ONETIME' ? unit : { unit, count };

/** The earlier of two ends, of which null is none. */
export const earlierEnd = (left: Instant | null, right: Instant | null): Instant | null =>
  left === null || (right !== null && right < left) ? right : left;
