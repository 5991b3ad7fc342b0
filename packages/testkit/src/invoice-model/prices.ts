import {
  below,
  type Fraction,
  fraction,
  isLess,
  least,
  minus,
  most,
  nothing,
  plus,
  times,
} from './fraction.ts';
import type { BilledPrice } from './life.ts';

/** The exact price of a quantity; nothing for nothing. */
export function costOf(price: BilledPrice, quantity: Fraction): Fraction {
  if (quantity.upper <= 0n) return nothing;
  switch (price.model) {
    case 'flat':
      return times(fraction(price.each), quantity);
    case 'package': {
      const full = below({ upper: quantity.upper, lower: quantity.lower * BigInt(price.of) });
      const filled = { upper: full * BigInt(price.of), lower: 1n };
      const begun = price.round === 'up' && isLess(filled, quantity) ? 1n : 0n;
      return times(fraction(price.each), { upper: full + begun, lower: 1n });
    }
    case 'volume': {
      const tier =
        price.tiers.find(({ upTo }) => upTo === null || !isLess(fraction(upTo), quantity)) ??
        price.tiers.at(-1);
      return tier ? plus(times(fraction(tier.each), quantity), fraction(tier.flat)) : nothing;
    }
    case 'graduated': {
      let [cost, bound] = [nothing, nothing];
      for (const { upTo, each, flat } of price.tiers) {
        const part = minus(upTo === null ? quantity : least(fraction(upTo), quantity), bound);
        if (part.upper <= 0n) break;
        cost = plus(cost, plus(times(fraction(each), part), fraction(flat)));
        bound = upTo === null ? quantity : fraction(upTo);
      }
      return cost;
    }
  }
}

export const positive = (value: Fraction): Fraction => most(value, nothing);
