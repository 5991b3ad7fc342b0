import { type DecimalText, decimal, type Instant, instantOf, textOf } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { afterDraws, drawFrom, inDrawOrder, isExpired, type Lot, sumOf, withLot } from './lots.ts';

const test = suite('lots');

const day = 86_400_000;
const credits = fc
  .bigInt({ min: 1n, max: 10n ** 20n })
  .map((units) => textOf(decimal(units.toString()).div(decimal('1000000000'))));

const anyLot = (sequence: number): fc.Arbitrary<Lot> =>
  fc.record({
    transaction_id: fc.constant(`wtxn_${sequence}` as Lot['transaction_id']),
    remaining: credits,
    class: fc.constantFrom('free' as const, 'purchased' as const),
    priority: fc.option(fc.integer({ min: -2, max: 2 })),
    effective_at: fc.constant(instantOf(0)),
    expires_at: fc.option(fc.integer({ min: 1, max: 3 }).map((days) => instantOf(days * day))),
    sequence: fc.constant(sequence),
  });

const anyLots = fc
  .integer({ min: 0, max: 12 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => anyLot(index + 1))));

const inOrder = (lots: readonly Lot[]): readonly Lot[] =>
  lots.reduce<readonly Lot[]>((sorted, lot) => withLot(sorted, lot), []);

/** The plainest way to draw: look for the best lot for every single unit. */
function drawPlainly(lots: readonly Lot[], wanted: bigint): Map<string, bigint> {
  const units = (text: string) => BigInt(decimal(text).times(decimal('1000000000')).toFixed(0));
  const left = new Map(lots.map((lot) => [lot.transaction_id as string, units(lot.remaining)]));
  const rank = (lot: Lot) => [
    lot.priority ?? Number.POSITIVE_INFINITY,
    lot.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(lot.expires_at),
    lot.class === 'free' ? 0 : 1,
    lot.sequence,
  ];
  let missing = wanted;
  while (missing > 0n) {
    const open = lots.filter((lot) => (left.get(lot.transaction_id) ?? 0n) > 0n);
    const best = open.sort((a, b) => {
      const [left, right] = [rank(a), rank(b)];
      const place = left.findIndex((value, index) => value !== right[index]);
      return (left[place] ?? 0) < (right[place] ?? 0) ? -1 : 1;
    })[0];
    if (!best) break;
    const has = left.get(best.transaction_id) ?? 0n;
    const taken = has < missing ? has : missing;
    left.set(best.transaction_id, has - taken);
    missing -= taken;
  }
  return left;
}

test('draws what the plainest search would draw, and keeps the sum', () => {
  fc.assert(
    fc.property(anyLots, credits, (unsorted, wanted) => {
      const lots = inOrder(unsorted);
      const draws = drawFrom(lots, wanted);
      const after = afterDraws(lots, draws);
      const drawn = draws.reduce((sum, draw) => sum.plus(decimal(draw.credits)), decimal('0'));
      assert.is(
        textOf(decimal(sumOf(lots)).minus(decimal(sumOf(after)))),
        textOf(drawn),
        'what leaves the lots is what was drawn',
      );
      const wantedUnits = BigInt(decimal(wanted).times(decimal('1000000000')).toFixed(0));
      for (const [id, units] of drawPlainly(unsorted, wantedUnits)) {
        const lot = after.find(({ transaction_id }) => transaction_id === id);
        const remaining = lot
          ? decimal(lot.remaining).times(decimal('1000000000')).toFixed(0)
          : '0';
        assert.is(remaining, units.toString(), id);
      }
    }),
    { numRuns: 500 },
  );
});

test('the draw-down order is total: no two lots of a wallet are equal', () => {
  fc.assert(
    fc.property(anyLots, (lots) => {
      for (const a of lots) {
        for (const b of lots) {
          if (a !== b) assert.is(Math.sign(inDrawOrder(a, b)), -Math.sign(inDrawOrder(b, a)));
          if (a !== b) assert.is.not(inDrawOrder(a, b), 0);
        }
      }
    }),
  );
});

test('inserting keeps the order that sorting would give', () => {
  fc.assert(
    fc.property(anyLots, (lots) => {
      assert.equal(inOrder(lots), [...lots].sort(inDrawOrder));
    }),
  );
});

test('a lot can be spent until the millisecond before its expiry', () => {
  const lot: Lot = {
    transaction_id: 'wtxn_1' as Lot['transaction_id'],
    remaining: '1' as DecimalText,
    class: 'free',
    priority: null,
    effective_at: instantOf(0),
    expires_at: '2026-02-01T00:00:00.000Z' as Instant,
    sequence: 1,
  };
  assert.not(isExpired(lot, '2026-01-31T23:59:59.999Z' as Instant));
  assert.ok(isExpired(lot, '2026-02-01T00:00:00.000Z' as Instant));
});

test.run();
