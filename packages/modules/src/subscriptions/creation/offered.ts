import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  type Instant,
  invalidField,
  invalidOperation,
  notFound,
  Problem,
  type SubscriptionId,
  sequencedId,
  type WindowSize,
} from '@counterfoil/kernel';
import { meter } from '../../meters/index.ts';
import {
  asksForFigures,
  fieldsOf,
  type Offer,
  type PriceRecord,
  repricedFigures,
} from '../../offers/index.ts';
import { offeredCommitments } from '../commitments/requests.ts';
import type { LineCommitments } from '../commitments/schema.ts';
import { bucketsFault } from '../commitments/time-buckets.ts';
import type { Granted } from '../entitlements/granted.ts';
import { type GrantData, grantTerms } from '../grants/grant.ts';
import { ownPriceOf, type SoldPrice } from '../lines/line.ts';
import type { OverrideLine } from '../schema.ts';
import { offeredPrices, type Rhythm } from './offered-prices.ts';
import { type OrderedLine, quantityOf } from './ordered-line.ts';

/** A sale of a plan or an add-on to a subscription. */
export interface Sale {
  /** The subscription. */
  readonly id: SubscriptionId;
  /** That which ids of prices of its own follow from: the subscription, or the association of an add-on. */
  readonly owner: string;
  readonly offer: Offer;
  readonly currency: Currency;
  readonly rhythm: Rhythm;
  readonly start: Instant;
  readonly overrides: readonly OverrideLine[];
  readonly commitments: LineCommitments | null;
  /** The place of the overrides in the request; empty for its body. */
  readonly pointer: string;
}

/** A line that is ordered, before the name of its meter is known. */
export type UnnamedLine = Omit<OrderedLine, 'meter_display_name'>;

/** A grant of credits of an offer, before it is known when it begins. */
export type OfferedGrant = Omit<
  GrantData,
  'id' | 'start_date' | 'end_date' | 'addon_association_id' | 'part'
>;

/** The lines of an offer that is sold: one for each price that fits, at its terms or at those that override it. */
export function offeredLines(sale: Sale, now: Instant): readonly UnnamedLine[] {
  const { id, offer, currency, rhythm, start, pointer } = sale;
  const prices = offeredPrices(offer, currency, rhythm, start);
  const overrides = overridesOf(sale.overrides, prices, pointer);
  const commitmentOf = offeredCommitments(sale.commitments, prices, pointer);
  const { id: entity_id, name: entity_name } = offer.root.record;
  return prices.map((price, index) => {
    const override = overrides.get(price.id) ?? null;
    const own = override && overridden(sale, now, price, override, index);
    const sold = own ?? soldOf(price);
    const quantity = quantityOf(
      sold,
      (override?.body.quantity ?? null) as DecimalText | null,
      `${override?.pointer ?? ''}/quantity`,
    );
    const origin = own
      ? { entity_type: 'subscription' as const, entity_id: id }
      : { entity_type: 'plan' as const, entity_id };
    return {
      ...(offer.root.kind === 'ADDON' ? { entity_type: 'addon' as const, entity_id } : origin),
      entity_name,
      price: sold,
      display_name: price.display_name ?? entity_name,
      quantity,
      from: price.start_date > start ? price.start_date : null,
      end_date: null,
      subscription_phase_id: null,
      commitment: commitmentOf(price.id, sold, rhythm),
      metadata: {},
    };
  });
}

/** The credits that an offer gives to those who buy it at an instant. */
export const creditsOf = ({ credit_grants }: Offer, start: Instant): readonly OfferedGrant[] =>
  credit_grants
    .filter(
      ({ status, end_date }) => status === 'published' && (end_date === null || end_date > start),
    )
    .map((grant) => ({ ...grantTerms(grant), source_id: grant.id }));

/** The entitlements that an offer gives now, as the subscription keeps them. */
export const grantedBy = ({ root, entitlements }: Offer): Granted[] =>
  entitlements.map((each) => ({
    entitlement_id: each.id,
    feature_id: each.feature_id,
    feature_type: each.feature_type,
    entity_type: root.kind === 'ADDON' ? 'ADDON' : 'PLAN',
    entity_id: root.record.id,
    entity_name: root.record.name,
    parent_entitlement_id: each.parent_entitlement_id,
    is_enabled: each.is_enabled,
    is_soft_limit: each.is_soft_limit,
    usage_limit: each.usage_limit,
    usage_reset_period: each.usage_reset_period,
    static_value: each.static_value,
    start_date: each.start_date,
    end_date: each.end_date,
  }));

interface Override {
  readonly body: OverrideLine;
  readonly pointer: string;
}

/** Overrides by the price that each is of: one for each at most, and of prices that the offer is sold under. */
function overridesOf(
  given: readonly OverrideLine[],
  prices: readonly PriceRecord[],
  below: string,
): ReadonlyMap<string, Override> {
  const overrides = new Map<string, Override>();
  for (const [index, body] of given.entries()) {
    const pointer = `${below}/override_line_items/${index}`;
    // One of another offer is unknown here as well.
    if (!prices.some(({ id }) => id === body.price_id)) {
      throw notFound('price', body.price_id, `${pointer.slice(1)}/price_id`);
    }
    if (overrides.has(body.price_id)) {
      throw invalidField(`${pointer}/price_id`, 'has an override already');
    }
    overrides.set(body.price_id, { body, pointer });
  }
  return overrides;
}

/** The price of one subscription in place of one of an offer; null where only its quantity is another. */
function overridden(
  { id, owner }: Sale,
  now: Instant,
  price: PriceRecord,
  { body, pointer }: Override,
  index: number,
): SoldPrice | null {
  if (!asksForFigures(body)) return null;
  const { price_id: _price, quantity: _quantity, ...asked } = body;
  const figures = below(pointer, () => repricedFigures(price, { ...asked, metadata: undefined }));
  const own = { id: sequencedId('price', now, owner, index), figures, subscription_id: id };
  return ownPriceOf(soldOf(price), own);
}

/** Does something for a part of the request; a problem with a field of it then says where it stands. */
function below<Value>(pointer: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || !error.errors) throw error;
    const [first] = error.errors;
    throw invalidField(`${pointer}${first?.pointer ?? ''}`, first?.message ?? error.message);
  }
}

/** A price of the catalogue as a line keeps it. */
export function soldOf(price: PriceRecord): SoldPrice {
  const { is_final: _final, entity_type, ...data } = fieldsOf(price);
  if (entity_type === 'COSTSHEET') {
    throw invalidOperation(`The price ${price.id} is of a costsheet: nothing is sold under it.`, {
      reason: 'unsuitable',
    });
  }
  return { ...data, entity_type };
}

/**
 * A line with the name of the meter that its usage is counted by.
 *
 * @throws a Problem where each window is committed to (E 14.4), and the meter has none
 */
export async function withMeterName(
  context: RequestContext,
  line: UnnamedLine,
): Promise<OrderedLine> {
  const { meter_id } = line.price;
  const counted = meter_id === null ? null : await context.load(meter, meter_id);
  const { windowed, time_buckets } = line.commitment ?? { windowed: false, time_buckets: [] };
  const size = (counted?.aggregation.bucket_size ?? null) as WindowSize | null;
  const fault = windowed ? bucketsFault(time_buckets, size) : null;
  if (fault !== null) {
    throw invalidOperation(
      `The line ${line.display_name} cannot be committed to for each window: ${fault}.`,
      { reason: 'unsuitable' },
    );
  }
  return { ...line, meter_display_name: counted?.name ?? null };
}
