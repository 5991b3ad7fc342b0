import { type Instant, invalidField, type PriceId, Problem } from '@counterfoil/kernel';
import { type Offer, priceKeyTaken } from '../offer.ts';
import { type PriceData, type PriceRecord, willBeInForce } from './price.ts';

/** The first price of the chain of re-pricings that a price belongs to; itself when it is the first. */
export const chainOf = ({
  id,
  parent_price_id,
}: Pick<PriceData, 'id' | 'parent_price_id'>): string => parent_price_id ?? id;

interface Keyed {
  readonly lookup_key: string | null;
  /** The chain that is to have the key; null for a price that begins one. */
  readonly parent_price_id: string | null;
}

/**
 * Equal keys inside one offer are told apart here; those of other offers are reserved (see
 * `offer.unique`). The prices of one chain follow one another, so they may have one key together.
 */
export function refuseEqualKeys(
  { prices }: Offer,
  asked: readonly Keyed[],
  pointers: readonly string[],
): void {
  const chains = new Map<string, string | null>();
  for (const price of prices) {
    if (price.lookup_key !== null && !price.is_final) chains.set(price.lookup_key, chainOf(price));
  }
  for (const [index, { lookup_key, parent_price_id }] of asked.entries()) {
    if (lookup_key === null) continue;
    const chain = chains.get(lookup_key);
    if (chain === null || (chain !== undefined && chain !== parent_price_id)) {
      const pointer = `${pointers[index] ?? ''}/lookup_key`;
      throw new Problem('already_exists', priceKeyTaken(lookup_key), {
        details: { field: 'lookup_key' },
        errors: [{ pointer, message: 'is the lookup_key of another price' }],
      });
    }
    chains.set(lookup_key, parent_price_id);
  }
}

interface Time {
  readonly start_date: Instant;
  readonly end_date: Instant | null;
}

/**
 * Tells whether there is an instant that two prices have in common; their ends do not belong to
 * them.
 */
export const overlap = (left: Time, right: Time): boolean =>
  (left.end_date === null || right.start_date < left.end_date) &&
  (right.end_date === null || left.start_date < right.end_date);

/**
 * Throws 400 when another price of the chain is in force in the same time: what is used then would be
 * charged twice. `id` is the price that the time is of, null for a new one.
 */
export function refuseOverlap(
  { prices }: Offer,
  chain: string,
  { id, at, pointer, ...time }: Time & { id: PriceId | null; at: Instant; pointer: string },
): void {
  const isOther = (price: PriceRecord) => chainOf(price) === chain && price.id !== id;
  const other = prices.find(
    (price) => isOther(price) && willBeInForce(price, at) && overlap(price, time),
  );
  if (!other) return;
  throw invalidField(
    pointer,
    `overlaps the price ${other.id}, which starts at ${other.start_date}`,
  );
}
