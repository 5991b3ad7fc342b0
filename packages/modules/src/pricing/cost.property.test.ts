import { type Currency, type DecimalText, decimal, minorUnits, textOf } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Cost, cost, costOfBuckets } from './cost.ts';
import { inCurrency, tiersInCurrency } from './price-unit.ts';
import type { PriceTerms, TieredTerms } from './terms.ts';
import {
  compare,
  equals,
  fraction,
  minus,
  plainCost,
  plus,
  roundedAt,
  times,
} from './test-rational.ts';
import {
  atLeast,
  flatFee,
  graduated,
  inUnit,
  packages,
  type TierText,
  text,
  volume,
} from './test-terms.ts';
import { tiersOf } from './tiers.ts';

const test = suite('cost properties');

/** A decimal with at most so many digits before and after the point; short ones are as likely. */
const anyDecimal = (whole: number, fraction: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.integer({ min: 1, max: whole }), fc.integer({ min: 0, max: fraction }))
    .chain(([before, after]) =>
      fc
        .bigInt({ min: 0n, max: 10n ** BigInt(before + after) - 1n })
        .map((units) => textOf(decimal(`${units}e-${after}`))),
    );

const anyPrice = anyDecimal(12, 15);
const anyBounds = fc.uniqueArray(
  fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 2 ** 40 })),
  { minLength: 0, maxLength: 5 },
);

const anyTiers: fc.Arbitrary<TierText[]> = fc
  .tuple(anyBounds, fc.boolean())
  .chain(([bounds, isOpen]) => {
    const ends = bounds.toSorted((a, b) => a - b).map(String);
    const upTo: (string | null)[] = isOpen || ends.length === 0 ? [...ends, null] : ends;
    const flat = fc.oneof(fc.constant('0'), anyPrice);
    return fc.tuple(...upTo.map((end) => fc.tuple(fc.constant(end), anyPrice, flat)));
  });

const anyPackages = fc
  .tuple(
    anyPrice,
    fc.integer({ min: 1, max: 2 ** 40 }),
    fc.integer({ min: 1, max: 12 }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([amount, large, small, isSmall, isUp]) =>
    packages(amount, String(isSmall ? small : large), isUp ? 'up' : 'down'),
  );

const anyTiered = fc
  .tuple(anyTiers, fc.boolean())
  .map(([tiers, isVolume]) => (isVolume ? volume(...tiers) : graduated(...tiers)));

const anyTerms: fc.Arbitrary<PriceTerms> = fc.oneof(anyPrice.map(flatFee), anyPackages, anyTiered);

/** The quantities at which the cost of terms may behave differently. */
const edgesOf = (terms: PriceTerms): string[] => {
  if (terms.model === 'package') return [terms.divide_by];
  if (terms.model === 'flat_fee') return ['1'];
  return terms.tiers.flatMap(({ up_to }) => up_to ?? []);
};

/** Any quantity; often nothing, one at an edge of the terms, or the least bit beside one. */
const quantityFor = (terms: PriceTerms): fc.Arbitrary<DecimalText> => {
  const anywhere = fc.oneof(anyDecimal(29, 15).map(text), fc.constant(text('0')));
  const edges = edgesOf(terms);
  if (edges.length === 0) return anywhere;
  const beside = fc
    .tuple(
      fc.constantFrom(...edges),
      fc.constantFrom('0', '0.000000000000001', '-0.000000000000001', '1', '0.5'),
      fc.integer({ min: 1, max: 3 }),
    )
    .map(([edge, step, times]) =>
      textOf(
        decimal(edge)
          .times(decimal(String(times)))
          .plus(decimal(step)),
      ),
    );
  return fc.oneof(anywhere, anyDecimal(3, 3).map(text), beside);
};

const withQuantity = (terms: fc.Arbitrary<PriceTerms>) =>
  terms.chain((known) => fc.tuple(fc.constant(known), quantityFor(known)));

const withQuantities = (terms: fc.Arbitrary<PriceTerms>) =>
  terms.chain((known) => fc.tuple(fc.constant(known), quantityFor(known), quantityFor(known)));

const anyCurrency = fc.constantFrom(...(['usd', 'jpy', 'kwd', 'clf', 'eur'] as Currency[]));
const usd = 'usd' as Currency;
const anyRate = anyDecimal(6, 10).filter((rate) => rate !== '0');
const runs = { numRuns: 1_000 };

const exactly = (found: Cost) => fraction(found.unrounded_amount);
const costIn = (terms: PriceTerms, quantity: string) => exactly(cost(terms, text(quantity), usd));
const inOrder = (a: string, b: string) =>
  (decimal(a).cmp(decimal(b)) <= 0 ? [a, b] : [b, a]) as [string, string];

test('what the plainest calculator works out, exact and rounded, in every currency', () => {
  const anyUnit = fc.option(anyRate);
  const anyMinimum = fc.oneof(fc.constant('0'), anyDecimal(3, 2));
  fc.assert(
    fc.property(
      withQuantity(anyTerms),
      anyUnit,
      anyMinimum,
      anyCurrency,
      (drawn, rate, minimum, currency) => {
        const [terms, quantity] = drawn;
        const asked = atLeast(rate === null ? terms : inUnit(terms, 'credit', rate), minimum);
        const found = cost(asked, quantity, currency);
        const expected = plainCost(asked, quantity);
        assert.ok(equals(exactly(found), expected), `${found.unrounded_amount} for ${quantity}`);
        assert.ok(
          equals(fraction(found.amount), roundedAt(expected, minorUnits(currency))),
          found.amount,
        );
      },
    ),
    { numRuns: 3_000 },
  );
});

test('the parts are the whole: tiers, charges, the conversion and the rounding', () => {
  fc.assert(
    fc.property(withQuantity(anyTerms), anyRate, ([terms, quantity], rate) => {
      const found = cost(inUnit(terms, 'credit', rate), quantity, usd);
      const [charge] = found.charges;
      assert.ok(charge && found.price_unit);
      if ('tiers' in charge) {
        assert.ok(equals(sum(charge.tiers.map((tier) => tier.quantity)), fraction(quantity)));
        assert.ok(equals(sum(charge.tiers.map((tier) => tier.amount)), fraction(charge.amount)));
      }
      assert.is(charge.amount, found.price_unit.amount);
      assert.ok(equals(times(fraction(charge.amount), fraction(rate)), exactly(found)));
      assert.ok(equals(plus(exactly(found), fraction(found.rounding)), fraction(found.amount)));
    }),
    runs,
  );
});

test('the rounding is at most half of the smallest unit', () => {
  fc.assert(
    fc.property(withQuantity(anyTerms), anyCurrency, ([terms, quantity], currency) => {
      const size = fraction(cost(terms, quantity, currency).rounding.replace('-', ''));
      const half = { upper: 1n, lower: 2n * 10n ** BigInt(minorUnits(currency)) };
      assert.ok(compare(size, half) <= 0);
    }),
    runs,
  );
});

test('more never costs less, except where a volume price jumps', () => {
  const rising = fc.oneof(
    anyPrice.map(flatFee),
    anyPackages,
    anyTiers.map((tiers) => graduated(...tiers)),
  );
  fc.assert(
    fc.property(withQuantities(rising), ([terms, ...drawn]) => {
      const [less, more] = inOrder(...drawn);
      assert.ok(compare(costIn(terms, less), costIn(terms, more)) <= 0, `${less} and ${more}`);
    }),
    runs,
  );
});

test('graduated is continuous: a bit more costs a bit of the rate and the flat amount of a new tier', () => {
  const bit = '0.000000000000001';
  fc.assert(
    fc.property(anyTiers, (tiers) => {
      for (const [index, [bound]] of tiers.entries()) {
        const next = tiers[index + 1] ?? tiers[index];
        if (bound === null || !next) continue;
        const above = textOf(decimal(bound).plus(decimal(bit)));
        const step = minus(costIn(graduated(...tiers), above), costIn(graduated(...tiers), bound));
        const [, rate, flat = '0'] = next;
        const entered = index + 1 < tiers.length ? fraction(flat) : fraction('0');
        assert.ok(equals(step, plus(times(fraction(bit), fraction(rate)), entered)), bound);
      }
    }),
    runs,
  );
});

test('volume is a straight line within a tier', () => {
  fc.assert(
    fc.property(withQuantities(anyTiers.map((tiers) => volume(...tiers))), ([terms, ...drawn]) => {
      const [less, more] = inOrder(...drawn);
      if (less === '0') return;
      const { tiers } = terms as TieredTerms;
      const bounds = tiers.slice(0, -1).flatMap(({ up_to }) => up_to ?? []);
      const placeOf = (quantity: string) =>
        bounds.filter((bound) => decimal(quantity).cmp(decimal(bound)) > 0).length;
      const tier = tiers[placeOf(less)];
      if (!tier || placeOf(less) !== placeOf(more)) return;
      const rise = minus(costIn(terms, more), costIn(terms, less));
      const width = minus(fraction(more), fraction(less));
      assert.ok(equals(rise, times(width, fraction(tier.unit_amount))), `${less} to ${more}`);
    }),
    runs,
  );
});

test('packages are the fewest that hold the quantity, or the most that it fills', () => {
  fc.assert(
    fc.property(withQuantity(anyPackages), ([terms, quantity]) => {
      const [charge] = cost(terms, quantity, usd).charges;
      assert.ok(charge?.model === 'package');
      const held = (count: bigint) => fraction(String(count * BigInt(charge.divide_by)));
      const count = BigInt(charge.packages);
      const against = (n: bigint) => compare(held(n), fraction(quantity));
      if (charge.round === 'up')
        assert.ok(against(count) >= 0 && (count === 0n || against(count - 1n) < 0));
      else assert.ok(against(count) <= 0 && against(count + 1n) > 0);
      assert.ok(equals(fraction(charge.rounded_by), minus(held(count), fraction(quantity))));
    }),
    runs,
  );
});

test('a price in a unit costs what the converted price costs', () => {
  fc.assert(
    fc.property(
      withQuantity(anyTiered),
      anyRate,
      anyCurrency,
      ([terms, quantity], rate, currency) => {
        const { tiers } = terms as TieredTerms;
        const written = tiers.map((tier) => ({
          ...tier,
          up_to: tier.up_to === null ? null : Number(tier.up_to),
        }));
        const converted = {
          ...terms,
          tiers: tiersOf(tiersInCurrency(written, rate)),
        } as TieredTerms;
        const found = cost(inUnit(terms, 'credit', rate), quantity, currency);
        assert.is(found.unrounded_amount, cost(converted, quantity, currency).unrounded_amount);
        assert.is(found.amount, cost(converted, quantity, currency).amount);
      },
    ),
    runs,
  );
});

test('the conversion is linear in amount and rate', () => {
  fc.assert(
    fc.property(anyPrice, anyPrice, anyRate, (one, other, rate) => {
      const together = textOf(decimal(one).plus(decimal(other)));
      const parts = sum([inCurrency(one, rate), inCurrency(other, rate)]);
      assert.ok(equals(fraction(inCurrency(together, rate)), parts));
    }),
    runs,
  );
});

test('buckets cost what they cost on their own, in any order', () => {
  const drawn = anyTerms.chain((terms) =>
    fc.tuple(fc.constant(terms), fc.array(quantityFor(terms), { maxLength: 8 })),
  );
  fc.assert(
    fc.property(drawn, anyCurrency, ([terms, quantities], currency) => {
      const found = costOfBuckets(terms, quantities, currency);
      const alone = sum(
        quantities.map((quantity) => cost(terms, quantity, currency).unrounded_amount),
      );
      assert.ok(equals(exactly(found), alone));
      assert.ok(equals(fraction(found.quantity), sum(quantities)));
      const turned = costOfBuckets(terms, quantities.toReversed(), currency);
      assert.is(turned.unrounded_amount, found.unrounded_amount);
    }),
    runs,
  );
});

function sum(parts: readonly string[]) {
  return parts.map(fraction).reduce(plus, fraction('0'));
}

test.run();
