import type { RequestContext } from '@counterfoil/engine/define';
import { canonicalJson, Problem } from '@counterfoil/kernel';
import { offer } from '../offer.ts';
import type { Owner } from '../owner.ts';
import { createPrices, dataOf, type PriceDraft } from './decisions.ts';
import { hasEnded, type PriceRecord } from './price.ts';
import { priceDrafts, priceOwner } from './references.ts';
import type { CreatePrice } from './schema.ts';

/**
 * Creates a price, unless one of the same owner has its lookup_key and is what is brought. One with other figures or
 * labels is refused as `POST /prices` does, with 409.
 */
export async function bringPrice(
  context: RequestContext,
  body: CreatePrice,
): Promise<'created' | 'unchanged'> {
  const owner = priceOwner(body);
  let draft: PriceDraft | null = null;
  try {
    await context.execute(offer, owner.entity_id, {
      prepare: async () => {
        draft = await priceDrafts(context)(body, owner);
        return createPrices(owner, [draft], ['']);
      },
    });
    return 'created';
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'already_exists' || !draft) throw error;
    if (await isThere(context, owner, draft)) return 'unchanged';
    throw error;
  }
}

/** Tells whether an owner has a price that is as a draft says. One that is to begin now may have begun before. */
async function isThere(
  context: RequestContext,
  { entity_id }: Owner,
  draft: PriceDraft,
): Promise<boolean> {
  const { lookup_key: key, start_date: start } = draft;
  const state = await context.load(offer, entity_id);
  const held = state?.prices.find(
    (price) => price.lookup_key === key && !hasEnded(price, context.now),
  );
  return held !== undefined && canonicalJson(shown(held, start)) === canonicalJson(draft);
}

function shown(price: PriceRecord, start: PriceDraft['start_date']): object {
  const { id: _, start_date, parent_price_id: __, ...data } = dataOf(price);
  return { ...data, start_date: start === null ? null : start_date, parent_price_id: null };
}
