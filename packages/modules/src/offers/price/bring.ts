import type { RequestContext } from '@counterfoil/engine/define';
import {
  canonicalJson,
  type Instant,
  invalidField,
  type PriceId,
  Problem,
} from '@counterfoil/kernel';
import { type OfferDecision, offer } from '../offer.ts';
import { createPrices, dataOf, type PriceDraft, updatePrice } from './decisions.ts';
import { hasEnded, type PriceRecord } from './price.ts';
import { priceDrafts, priceOwner } from './references.ts';
import type { CreatePrice, UpdatePrice } from './schema.ts';

/**
 * Creates a price, unless one of the same owner has its lookup_key and is what is brought. One with other figures or labels is changed as
 * `PUT /prices/{id}` does where it may be: labels in place, other figures from `start_date` or from now on. If not it is refused as
 * `POST /prices` does, with 409. A field that never changes is 400 and named.
 */
export async function bringPrice(
  context: RequestContext,
  body: CreatePrice,
  mayUpdate: boolean,
): Promise<'created' | 'unchanged' | 'updated'> {
  const owner = priceOwner(body);
  let made: PriceDraft | null = null;
  try {
    await context.execute(offer, owner.entity_id, {
      prepare: async () => {
        made = await priceDrafts(context)(body, owner);
        return createPrices(owner, [made], ['']);
      },
    });
    return 'created';
  } catch (error) {
    // The compiler does not see that it was made meanwhile.
    const draft = made as PriceDraft | null;
    if (!(error instanceof Problem) || error.code !== 'already_exists' || !draft) throw error;
    const held = await holdersOf(context, owner.entity_id, draft);
    const last = held.at(-1);
    if (!last) throw error;
    if (held.some((price) => isAs(price, draft))) return 'unchanged';
    if (!mayUpdate) throw error;
    const decision = changeTo(last, updateTo(last, body, draft));
    const { events } = await context.execute(offer, owner.entity_id, decision).catch(ofStart);
    return events.length > 0 ? 'updated' : 'unchanged';
  }
}

/** Changes a price. A beginning of new figures without any says what would not be done: 400. */
const changeTo =
  (price: PriceRecord, update: UpdatePrice): OfferDecision =>
  (state, at) => {
    const events = updatePrice(price.id, update)(state, at);
    if (
      update.effective_from !== undefined &&
      !events.some(({ type }) => type === 'PriceCreated')
    ) {
      throw invalidField('/start_date', `is ${price.start_date}, and begins no new figures`);
    }
    return events;
  };

/** A fault of the beginning of new figures, as one of the field from which that was taken. */
function ofStart(error: unknown): never {
  const [fault] = error instanceof Problem ? (error.errors ?? []) : [];
  if (fault?.pointer !== '/effective_from') throw error;
  throw invalidField('/start_date', fault.message);
}

/** The prices of an owner that have the lookup_key of a draft and have not ended, in the order of their beginnings. */
async function holdersOf(
  context: RequestContext,
  ownerId: string,
  { lookup_key: key }: PriceDraft,
): Promise<readonly (PriceRecord & { readonly id: PriceId })[]> {
  const state = await context.load(offer, ownerId);
  return (state?.prices ?? [])
    .filter((price) => price.lookup_key === key && !hasEnded(price, context.now))
    .toSorted((left, right) => (left.start_date < right.start_date ? -1 : 1));
}

/** Tells whether a price is as a draft says. One that is to begin now may have begun before. */
const isAs = (price: PriceRecord, draft: PriceDraft): boolean =>
  canonicalJson(shown(price, draft.start_date)) === canonicalJson(draft);

function shown(price: PriceRecord, start: PriceDraft['start_date']): PriceDraft {
  const { id: _, start_date, parent_price_id: __, ...data } = dataOf(price);
  return { ...data, start_date: start === null ? null : start_date, parent_price_id: null };
}

/** The fields of a price that no request changes. */
const fixedFields = [
  'type',
  'currency',
  'billing_period',
  'billing_period_count',
  'billing_cadence',
  'invoice_cadence',
  'meter_id',
  'min_quantity',
  'trial_period_days',
  'end_date',
] as const;

/** The change that makes a price what is brought. What is left out stays. Throws 400 naming a field that never changes. */
function updateTo(price: PriceRecord, body: CreatePrice, draft: PriceDraft): UpdatePrice {
  const other = fixedFields.find(
    (field) => (body[field] ?? null) !== null && draft[field] !== price[field],
  );
  if (other !== undefined) throw fixed(price, other);
  const { price_unit_config: inUnit } = body;
  if ((draft.price_unit?.id ?? null) !== (price.price_unit?.id ?? null)) {
    throw fixed(price, inUnit ? 'price_unit_config/price_unit' : 'price_unit_type');
  }
  return {
    ...labelsIn(body),
    billing_model: body.billing_model,
    amount: body.amount ?? undefined,
    tier_mode: body.tier_mode ?? undefined,
    tiers: body.tiers ?? undefined,
    transform_quantity: body.transform_quantity,
    price_unit_amount: inUnit?.amount ?? undefined,
    price_unit_tiers: inUnit?.price_unit_tiers ?? undefined,
    ...startIn(price, draft),
  };
}

const labelsIn = ({ display_name, description, group_id, metadata }: CreatePrice) => ({
  display_name,
  description,
  group_id,
  metadata,
});

/** The beginning of new figures, where what is brought begins elsewhere than the price that is there. */
const startIn = (
  price: PriceRecord,
  { start_date }: PriceDraft,
): { readonly effective_from?: Instant } =>
  start_date === null || start_date === price.start_date ? {} : { effective_from: start_date };

const fixed = ({ id }: PriceRecord, field: string): Problem =>
  invalidField(
    `/${field}`,
    `never changes: the price ${id} has the lookup_key, with another value. End it and bring this one with another key`,
  );
