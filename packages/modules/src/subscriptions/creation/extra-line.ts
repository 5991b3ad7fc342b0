import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  type Instant,
  invalidField,
  notFound,
  type PriceId,
  type SubscriptionId,
} from '@counterfoil/kernel';
import { offer, priceDrafts, priceTable } from '../../offers/index.ts';
import { lineCommitmentOf } from '../commitments/requests.ts';
import type { SoldPrice } from '../lines/line.ts';
import type { OrderedLineBody } from '../schema.ts';
import { soldOf, type UnnamedLine } from './offered.ts';
import { fitsRhythm, type Rhythm } from './offered-prices.ts';
import { quantityOf } from './ordered-line.ts';

/** The subscription that a line is ordered for, and its place in the request. */
export interface LineOrdering {
  readonly id: SubscriptionId;
  readonly currency: Currency;
  readonly plan_name: string;
  readonly rhythm: Rhythm;
  readonly start: Instant;
  readonly pointer: string;
  /** The id of a price of its own. */
  readonly price_id: PriceId;
}

/** A line beside those of the plan: under a price of the catalogue, or one that is made for it. */
export async function extraLine(
  context: RequestContext,
  ordering: LineOrdering,
  line: OrderedLineBody,
): Promise<UnnamedLine> {
  const { id, currency, rhythm, start, plan_name, pointer } = ordering;
  const sold = line.price
    ? await ownPrice(context, ordering, line.price)
    : await catalogPrice(context, line.price_id ?? '', currency, pointer);
  if (!fitsRhythm(sold, rhythm)) {
    throw invalidField(
      line.price ? `${pointer}/price/billing_period` : `${pointer}/price_id`,
      `cannot be billed every ${rhythm.count} ${rhythm.unit}`,
    );
  }
  const from = line.start_date ?? (sold.start_date > start ? sold.start_date : null);
  if (line.start_date && line.start_date < start) {
    throw invalidField(`${pointer}/start_date`, 'must not be before the subscription starts');
  }
  if (line.end_date && line.end_date <= (from ?? start)) {
    throw invalidField(`${pointer}/end_date`, 'must be after the line starts');
  }
  return {
    entity_type: 'subscription',
    entity_id: id,
    entity_name: plan_name,
    price: sold,
    display_name: line.display_name || sold.display_name || plan_name,
    quantity: quantityOf(
      sold,
      (line.quantity ?? null) as DecimalText | null,
      `${pointer}/quantity`,
    ),
    from,
    end_date: line.end_date ?? null,
    subscription_phase_id: null,
    commitment: lineCommitmentOf(line, { price: sold, rhythm, pointer }),
    metadata: line.metadata ?? {},
  };
}

async function ownPrice(
  context: RequestContext,
  { id, currency, start, pointer, price_id }: LineOrdering,
  price: NonNullable<OrderedLineBody['price']>,
): Promise<SoldPrice> {
  // Drafts of prices are of offers; this one gets another owner right away.
  const request = { ...price, entity_type: 'SUBSCRIPTION', entity_id: id, currency } as const;
  const owner = { entity_type: 'PLAN', entity_id: id } as const;
  const draft = await priceDrafts(context)(
    { ...request, entity_id: id as never, group_id: undefined },
    owner,
    `${pointer}/price`,
  );
  return {
    ...draft,
    id: price_id,
    entity_type: 'SUBSCRIPTION',
    start_date: draft.start_date ?? start,
  };
}

async function catalogPrice(
  context: RequestContext,
  id: string,
  currency: Currency,
  pointer: string,
): Promise<SoldPrice> {
  const found = await context.read.find(priceTable, id);
  const owner = found && (await context.load(offer, found.resource.entity_id));
  const price = owner?.prices.find((each) => each.id === id);
  if (!price || price.status === 'deleted') throw notFound('price', id, 'price_id');
  if (price.status !== 'published' || (price.end_date !== null && price.end_date <= context.now)) {
    throw invalidField(`${pointer}/price_id`, 'has ended: nothing can be sold under it any more');
  }
  if (price.currency !== currency) {
    throw invalidField(
      `${pointer}/price_id`,
      `is in ${price.currency}, the subscription in ${currency}`,
    );
  }
  return soldOf(price);
}
