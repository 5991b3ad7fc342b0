import {
  type Currency,
  type DecimalText,
  type Instant,
  instantSchema,
  metadataSchema,
  type PriceId,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { chainOf, type Figures, priceData, priceFieldsOf } from '../../offers/index.ts';
import { exactCost, priceTermsOf } from '../../pricing/index.ts';
import { lineCommitmentData } from '../commitments/commitment.ts';
import type { BillingPeriod, ChargedLine, ChargedSpan } from '../settlement/index.ts';
import { lineOriginSchema } from '../values.ts';

const instant = z.string().transform((text) => text as Instant);
const spanData = z.object({ start: instant, end: instant });

/** The price of a line as it was sold: nothing changes in it any more, whatever becomes of the plan. */
export const soldPriceData = priceData.extend({
  entity_type: z.enum(['PLAN', 'ADDON', 'SUBSCRIPTION']),
});
export type SoldPrice = z.output<typeof soldPriceData>;

/** The price of one subscription in the place of another, with other figures. */
export const ownPriceOf = (
  price: SoldPrice,
  { id, figures, subscription_id }: OwnPrice,
): SoldPrice => ({
  ...price,
  ...figures,
  id,
  parent_price_id: chainOf(price) as PriceId,
  entity_type: 'SUBSCRIPTION',
  entity_id: subscription_id,
  lookup_key: null,
});

interface OwnPrice {
  readonly id: PriceId;
  readonly figures: Figures;
  readonly subscription_id: SoldPrice['entity_id'];
}

/** A line as its events carry it. Its identity is its id, never that of the price (ADR 41). */
export const lineData = z.object({
  id: referenceSchema('subs_line'),
  entity_type: lineOriginSchema,
  entity_id: z.string(),
  /** The name of the plan or the add-on when it was sold. */
  entity_name: z.string(),
  addon_association_id: z.string().nullable(),
  /** True for a line of an add-on that is sold once: nothing of it is credited (E 11.5). */
  is_sold_once: z.boolean().default(false),
  price: soldPriceData,
  meter_display_name: z.string().nullable(),
  display_name: z.string(),
  /** The line in whose place it stands, such as one of another quantity; absent: it was sold as it is. */
  replaces: referenceSchema('subs_line').exactOptional(),
  quantity: z.string().transform((text) => text as DecimalText),
  /** Charged from here on. */
  start_date: instantSchema,
  /** Charged until right before here; null: as long as the subscription. */
  end_date: instantSchema.nullable(),
  /** Its own periods, where they are longer than those of the subscription; null: it goes with those. */
  own: z.object({ anchor: instant, first: spanData, before: spanData.exactOptional() }).nullable(),
  /** The phase that it is for; null: none. */
  subscription_phase_id: referenceSchema('phase').nullable().default(null),
  /** The commitment of its usage; null: none. */
  commitment: lineCommitmentData.nullable().default(null),
  metadata: metadataSchema,
});
export type LineData = z.output<typeof lineData>;

/** A line of a subscription that can still be charged. */
export interface Line extends LineData {
  /** The charges for spans that are still running: what a credit can be of. */
  readonly charged: readonly ChargedSpan[];
}

/** The members of a line that came with no add-on. */
export const ofNoAddon = { addon_association_id: null, is_sold_once: false } as const;

/** A line that begins. */
export const newLine = (data: LineData): Line => ({ ...data, charged: [] });

/** The chains of catalogue prices that lines are under; an own price that stands in for one is of its chain. */
export const chainsOf = (lines: readonly LineData[]): readonly string[] =>
  lines
    .map(({ price }) => price)
    .filter(
      ({ entity_type, parent_price_id }) => entity_type === 'PLAN' || parent_price_id !== null,
    )
    .map(chainOf);

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
  charged: line.is_sold_once ? [] : line.charged,
  commitment: chargedCommitment(line, earlierEnd(line.end_date, subscriptionEnd)),
});

/** The commitment of a line as settlements see it: a quantity by its price. Windows have theirs when they are rated. */
function chargedCommitment(
  { commitment, price, start_date }: LineData,
  end: Instant | null,
): ChargedLine['commitment'] {
  if (commitment === null || commitment.windowed || commitment.committed === null) return null;
  const { committed, overage_factor, true_up, duration } = commitment;
  const terms = { overage_factor, true_up, duration, since: start_date, end };
  if (committed.kind === 'amount') return { ...terms, committed: committed.amount };
  const { unrounded_amount } = exactCost(
    priceTermsOf(priceFieldsOf(price)),
    committed.quantity,
    price.currency as Currency,
  );
  return { ...terms, committed: unrounded_amount };
}

/** The rhythm in which a price is charged. */
export const billedEvery = ({
  billing_period: unit,
  billing_period_count: count,
}: Pick<SoldPrice, 'billing_period' | 'billing_period_count'>): BillingPeriod | 'ONETIME' =>
  unit === 'ONETIME' ? unit : { unit, count };

/** The earlier of two ends, of which null is none. */
export const earlierEnd = (left: Instant | null, right: Instant | null): Instant | null =>
  left === null || (right !== null && right < left) ? right : left;
