import { type Currency, decimal, instantOf, minorUnits, textOf } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ResetPeriod } from '../entitlements/index.ts';
import type { ExactCost, PriceTerms } from '../pricing/index.ts';
import { type RatedLine, rate, rateCommitment } from './rate.ts';
import type { CommitmentSlot, CommitmentTerms, LineCommitment, UsageLine } from './request.ts';
import {
  equals,
  type Fraction,
  fraction,
  isLess,
  minus,
  most,
  nothing,
  plus,
  roundedTo,
  times,
  total,
} from './test-fraction.ts';
import { committing, flat, inUnit, metered, packed, text, tiered } from './test-lines.ts';
import { plainBillable, plainCommitted, plainPrice } from './test-oracle.ts';
import { usageWindows } from './usage-windows.ts';

const test = suite('rating properties');
const runs = { numRuns: 1_000 };

/** A plain decimal with few digits, or with many. */
const anyDecimal = (digits: number, places: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n }),
      fc.integer({ min: 0, max: places }),
    )
    .map(([units, after]) => textOf(decimal(`${units}e-${after}`)));

const anyAmount = fc.oneof(anyDecimal(3, 2), anyDecimal(9, 9));
const anyTiers = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
    fc.array(fc.tuple(anyAmount, fc.oneof(fc.constant('0'), anyAmount)), {
      minLength: 5,
      maxLength: 5,
    }),
    fc.boolean(),
  )
  .map(([bounds, figures, isOpen]) => {
    const sorted = bounds.toSorted((a, b) => a - b).map(String);
    const ends = isOpen || sorted.length === 0 ? [...sorted, '∞'] : sorted;
    return ends.map((end, index) => `${end}@${figures[index]?.join('+')}`).join(' ');
  });
const anyPlainTerms: fc.Arbitrary<PriceTerms> = fc.oneof(
  anyAmount.map(flat),
  fc
    .tuple(anyAmount, fc.integer({ min: 1, max: 40 }), fc.constantFrom('up', 'down'))
    .map(([amount, size, round]) => packed(amount, String(size), round as 'up' | 'down')),
  fc
    .tuple(fc.constantFrom('volume', 'graduated'), anyTiers)
    .map(([model, tiers]) => tiered(model as 'volume' | 'graduated', tiers)),
);
const anyRate = anyDecimal(6, 6).filter((rate) => rate !== '0');
const anyTerms = fc
  .tuple(anyPlainTerms, fc.option(anyRate))
  .map(([terms, unit]) => (unit === null ? terms : inUnit(terms, unit)));
const anyCurrency = fc.constantFrom(...(['usd', 'jpy', 'kwd'] as Currency[]));
const anyFactor = fc.constantFrom('1', '1.5', '2', '1.3333');
const anyCommitment: fc.Arbitrary<CommitmentTerms> = fc
  .tuple(
    fc.oneof(
      anyDecimal(4, 2),
      anyDecimal(2, 1).map((figure) => `${figure} units`),
    ),
    anyFactor,
    fc.boolean(),
  )
  .map(([committed, factor, isTruedUp]) => committing(committed, factor, isTruedUp));

const day = 86_400_000;
const firstDay = Date.parse('2026-01-01T00:00:00Z');
/** Whole hours of two years. */
const anyTime = fc
  .integer({ min: 0, max: 2 * 365 * 24 })
  .map((hour) => firstDay + hour * 3_600_000);
const lengths = {
  DAILY: { days: 1 },
  WEEKLY: { days: 7 },
  MONTHLY: { months: 1 },
  QUARTERLY: { months: 3 },
  HALF_YEARLY: { months: 6 },
  ANNUAL: { months: 12 },
  NEVER: null,
} as const satisfies Record<ResetPeriod, unknown>;

/** Usage in quarters of one, some of it at edges. */
const anyEvents = fc.array(
  fc.record({ at: anyTime, quantity: fc.integer({ min: 0, max: 120 }).map((n) => String(n / 4)) }),
  { maxLength: 40 },
);

const sumBetween = (
  events: readonly { readonly at: number; readonly quantity: string }[],
  { start, end }: { readonly start: string; readonly end: string },
): string => {
  const [from, to] = [Date.parse(start), Date.parse(end)];
  const within = events.filter(({ at }) => at >= from && at < to);
  return String(within.reduce((sum, { quantity }) => sum + Number(quantity), 0));
};

const anyCase = fc.record({
  terms: anyTerms,
  currency: anyCurrency,
  events: anyEvents,
  // The subscription starts, its anchor lies anywhere, and a later stretch of at most two months is rated.
  start: anyTime,
  anchor: anyTime,
  after: fc.integer({ min: 0, max: 400 * 24 }),
  hours: fc.integer({ min: 1, max: 62 * 24 }),
  limit: fc.integer({ min: 0, max: 200 }),
  resets: fc.constantFrom(...(Object.keys(lengths) as ResetPeriod[])),
  commitment: fc.option(
    fc.record({ terms: anyCommitment, prior: anyDecimal(4, 3), closes_term: fc.boolean() }),
  ),
});

test('a line of usage costs what the oracle walks to, event by event', () => {
  fc.assert(
    fc.property(anyCase, (given) => {
      const { terms, currency, events, limit, resets } = given;
      const from = given.start + given.after * 3_600_000;
      const to = from + given.hours * 3_600_000;
      const period = { start: instantOf(from), end: instantOf(to) };
      const rhythm = {
        resets,
        billing: period,
        anchor: instantOf(given.anchor),
        zone: 'UTC',
        start: instantOf(given.start),
      };
      const windows = usageWindows(period, 'SUM', rhythm).map(({ before, through, start, end }) => {
        const used = before === null ? '0' : sumBetween(events, before);
        return { start, end, before: text(used), through: text(sumBetween(events, through)) };
      });
      const line: UsageLine = {
        kind: 'usage',
        currency,
        terms,
        period,
        usage: { kind: 'windows', metered_by: metered, windows },
        allowance: { limit: text(String(limit)), resets },
        commitment: given.commitment && {
          kind: 'term',
          ...given.commitment,
          prior: text(given.commitment.prior),
        },
      };
      const found = rate(line);
      const plain = events.map(({ at, quantity }) => ({ at, quantity: fraction(quantity) }));
      const billable = plainBillable(
        plain,
        { from, to },
        {
          limit: fraction(String(limit)),
          length: lengths[resets],
          anchor: given.anchor,
          start: given.start,
        },
      );
      assert.ok(equals(fraction(found.quantity), billable), `quantity ${found.quantity}`);
      const used = plainPrice(terms, billable);
      const exact = given.commitment
        ? plainCommitted(used, given.commitment.terms, terms, {
            prior: fraction(given.commitment.prior),
            isTruedUp: given.commitment.terms.true_up && given.commitment.closes_term,
          })
        : used;
      assertAmount(found, exact);
      assertAddsUp(found);
    }),
    { numRuns: 1_500 },
  );
});

function assertAmount({ amount, currency, explanation }: RatedLine, exact: Fraction): void {
  assert.ok(equals(fraction(explanation.total.unrounded_amount), exact), 'the exact amount');
  assert.ok(equals(fraction(amount), roundedTo(minorUnits(currency), exact)), `amount ${amount}`);
}

test('buckets with commitments cost what they cost hour by hour', () => {
  const anyHour = fc.integer({ min: 0, max: 23 });
  const anySlots = fc
    .tuple(fc.uniqueArray(anyHour, { minLength: 2, maxLength: 2 }), anyPlainTerms, anyCommitment)
    .map(([[from = 0, to = 0], terms, commitment]): CommitmentSlot[] => [
      { from_minute: from * 60, to_minute: to * 60, terms, commitment },
    ]);
  const anyBuckets = fc.uniqueArray(
    fc.record({
      hour: fc.integer({ min: 0, max: 95 }),
      quantity: fc.integer({ min: -8, max: 120 }),
    }),
    { maxLength: 30, selector: ({ hour }) => hour },
  );
  fc.assert(
    fc.property(
      anyTerms,
      anyCurrency,
      anyBuckets,
      fc.option(anyCommitment),
      fc.oneof(fc.constant([]), anySlots),
      fc.integer({ min: 0, max: 100 }),
      (terms, currency, given, commitment, slots, elapsed) => {
        const period = { start: instantOf(firstDay), end: instantOf(firstDay + 4 * day) };
        const hourOf = (hour: number) => instantOf(firstDay + hour * 3_600_000);
        const windowed: LineCommitment = {
          kind: 'windowed',
          terms: commitment,
          slots,
          as_of: hourOf(elapsed),
        };
        const found = rate({
          kind: 'usage',
          currency,
          terms,
          period,
          usage: {
            kind: 'buckets',
            metered_by: metered,
            rhythm: { size: 'HOUR', zone: 'UTC' },
            buckets: given.map(({ hour, quantity }) => ({
              start: hourOf(hour),
              group: '',
              quantity: text(String(quantity / 4)),
            })),
          },
          allowance: null,
          commitment: windowed,
        });
        let exact = nothing;
        for (let hour = 0; hour < 96; hour += 1) {
          const known = given.find((bucket) => bucket.hour === hour);
          const slot = slots.find(({ from_minute: from, to_minute: to }) => {
            const minute = (hour % 24) * 60;
            return from < to ? minute >= from && minute < to : minute >= from || minute < to;
          });
          const [price, terms_] = [slot?.terms ?? terms, slot?.commitment ?? commitment];
          const used = plainPrice(price, fraction(String((known?.quantity ?? 0) / 4)));
          const isTruedUp = terms_?.true_up === true && hour < elapsed;
          exact = plus(
            exact,
            terms_ ? plainCommitted(used, terms_, price, { prior: nothing, isTruedUp }) : used,
          );
        }
        assertAmount(found, exact);
        assertAddsUp(found);
      },
    ),
    { numRuns: 300 },
  );
});

test('buckets without commitment cost the sum of what each costs', () => {
  const anyQuantity = fc.oneof(
    anyDecimal(3, 2),
    anyDecimal(3, 2).map((figure) => `-${figure}`),
  );
  fc.assert(
    fc.property(
      anyTerms,
      anyCurrency,
      fc.array(anyQuantity, { maxLength: 12 }),
      (terms, currency, given) => {
        const quantities = given.map((quantity) => textOf(decimal(quantity)));
        const start = instantOf(firstDay);
        const found = rate({
          kind: 'usage',
          currency,
          terms,
          period: { start, end: instantOf(firstDay + day) },
          usage: {
            kind: 'buckets',
            metered_by: metered,
            rhythm: { size: 'DAY', zone: 'UTC' },
            buckets: quantities.map((quantity, index) => ({
              start,
              group: String(index),
              quantity,
            })),
          },
          allowance: null,
          commitment: null,
        });
        assertAmount(
          found,
          total(quantities.map((quantity) => plainPrice(terms, fraction(quantity)))),
        );
        assertAddsUp(found);
      },
    ),
    runs,
  );
});

/** Every step of an explanation follows from the one before, down to the amount. */
function assertAddsUp({ amount, quantity: billed, explanation }: RatedLine): void {
  if (explanation.kind === 'usage') {
    const { measured, taken, below_zero, billable, allowance } = explanation.quantity;
    assertSum(measured, [taken, below_zero, billable]);
    assert.is(billed, billable);
    for (const window of allowance?.windows ?? [])
      assertSum(window.above_through, [window.above_before, window.billable]);
    if (allowance?.limit)
      assertSum(billable, [
        ...allowance.windows.map((window) => window.billable),
        negated(below_zero),
      ]);
  }
  const { charge, total: end } = explanation;
  const { currency } = explanation;
  if (charge.kind === 'windowed') {
    const amounts = [...charge.windows, ...charge.empty].map((part) => part.amount);
    assertSum(charge.amount, amounts);
    assertSum(charge.amount, [charge.utilized, charge.overage, charge.true_up, charge.uncommitted]);
    for (const { cost, commitment, amount: own } of charge.windows) {
      assertCost(cost);
      if (commitment) assertSum(own, [commitment.utilized, commitment.overage, commitment.true_up]);
      else assert.is(own, cost.unrounded_amount);
    }
    for (const { each, windows, amount: own } of charge.empty)
      assert.ok(equals(times(fraction(each), fraction(String(windows))), fraction(own)));
    assert.is(end.unrounded_amount, charge.amount);
  } else {
    assertCost(charge.cost);
    if (charge.kind === 'committed') {
      const { used, utilized, overage_base, overage_factor, overage, true_up } = charge.commitment;
      assert.is(used, charge.cost.unrounded_amount);
      assertSum(used, [utilized, overage_base]);
      assert.ok(equals(times(fraction(overage_base), fraction(overage_factor)), fraction(overage)));
      assertSum(charge.commitment.amount, [utilized, overage, true_up]);
      assert.is(end.unrounded_amount, charge.commitment.amount);
    } else assert.is(end.unrounded_amount, charge.cost.unrounded_amount);
  }
  assertSum(amount, [end.unrounded_amount, end.rounding]);
  assert.is(end.amount, amount);
  assert.ok(
    equals(fraction(amount), roundedTo(minorUnits(currency), fraction(end.unrounded_amount))),
  );
}

function assertCost({ charges, price_unit, unrounded_amount, billed_quantity }: ExactCost): void {
  assertSum(
    billed_quantity,
    charges.map((each) => each.quantity),
  );
  for (const each of charges) {
    if ('tiers' in each)
      assertSum(
        each.amount,
        each.tiers.map((tier) => tier.amount),
      );
    if ('tiers' in each)
      assertSum(
        each.quantity,
        each.tiers.map((tier) => tier.quantity),
      );
  }
  const charged = total(charges.map((each) => fraction(each.amount)));
  const rate = price_unit === null ? '1' : price_unit.conversion_rate;
  assert.ok(equals(times(charged, fraction(rate)), fraction(unrounded_amount)));
}

const negated = (value: string): string =>
  value.startsWith('-') ? value.slice(1) : value === '0' ? '0' : `-${value}`;

function assertSum(whole: string, parts: readonly string[]): void {
  assert.ok(equals(fraction(whole), total(parts.map(fraction))), `${whole} = ${parts.join(' + ')}`);
}

test('a period that is rated in two parts has the same quantity to charge for', () => {
  fc.assert(
    fc.property(anyCase, fc.integer({ min: 1, max: 1_487 }), (given, cut) => {
      const { events, limit, resets } = given;
      const from = given.start + given.after * 3_600_000;
      const to = from + given.hours * 3_600_000;
      const middle = from + (cut % given.hours) * 3_600_000;
      if (middle === from) return;
      const billing = { start: instantOf(from), end: instantOf(to) };
      const rhythm = {
        resets: given.limit % 3 === 0 ? null : resets,
        billing,
        anchor: instantOf(given.anchor),
        zone: 'Europe/Berlin',
        start: instantOf(given.start),
      };
      const quantityOf = (start: number, end: number): Fraction => {
        const period = { start: instantOf(start), end: instantOf(end) };
        const windows = usageWindows(period, 'COUNT', rhythm).map((window) => ({
          ...window,
          before: text(window.before === null ? '0' : sumBetween(events, window.before)),
          through: text(sumBetween(events, window.through)),
        }));
        const line: UsageLine = {
          kind: 'usage',
          currency: 'usd' as Currency,
          terms: flat('1'),
          period,
          usage: { kind: 'windows', metered_by: metered, windows },
          allowance: { limit: text(String(limit)), resets: rhythm.resets },
          commitment: null,
        };
        return fraction(rate(line).quantity);
      };
      const parts = plus(quantityOf(from, middle), quantityOf(middle, to));
      assert.ok(equals(quantityOf(from, to), parts));
    }),
    { numRuns: 300 },
  );
});

const anyTermOfPeriods = fc.record({
  currency: anyCurrency,
  committed: fc.integer({ min: 0, max: 5_000 }),
  factor: anyFactor,
  isTruedUp: fc.boolean(),
  periods: fc.array(fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  }),
});

test('a term in several periods costs what it costs in one, to the last unit, and lines add up', () => {
  fc.assert(
    fc.property(anyTermOfPeriods, ({ currency, committed, factor, isTruedUp, periods }) => {
      const scale = minorUnits(currency);
      const amountOf = (units: number) => textOf(decimal(`${units}e-${scale}`));
      let prior = 0;
      let charged = nothing;
      for (const [place, period] of periods.entries()) {
        const found = rateCommitment({
          currency,
          committed: amountOf(committed),
          overage_factor: text(factor),
          prior: amountOf(prior),
          trues_up: isTruedUp && place === periods.length - 1,
          lines: period.map((units, index) => ({
            line_id: String(index),
            amount: amountOf(units),
          })),
        });
        assertSum(found.charged, [found.utilized, found.overage, found.true_up]);
        assertSum(
          found.utilized,
          found.lines.map((line) => line.utilized),
        );
        assertSum(
          found.overage,
          found.lines.map((line) => line.overage),
        );
        for (const line of found.lines) assertSum(line.amount, [line.utilized, line.overage_base]);
        prior += period.reduce((sum, units) => sum + units, 0);
        charged = plus(charged, fraction(found.charged));
      }
      const all = { upper: BigInt(prior), lower: 10n ** BigInt(scale) };
      const whole = { upper: BigInt(committed), lower: 10n ** BigInt(scale) };
      const above = times(most(nothing, minus(all, whole)), fraction(factor));
      const below = isLess(all, whole) ? (isTruedUp ? whole : all) : whole;
      assert.ok(equals(charged, plus(below, roundedTo(scale, above))));
    }),
    runs,
  );
});

test.run();
