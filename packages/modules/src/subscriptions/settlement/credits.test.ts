import { decimal, instantOf, millisecondsOf, type Span, textOf, zero } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chargeFor, openingLines } from './boundaries.ts';
import { creditLines, creditOf } from './credits.ts';
import { afterPause } from './pauses.ts';
import { prorated } from './proration.ts';
import { at, charged, line, periodOf, rhythm, span, text, usd } from './test-lines.ts';

const test = suite('proration and credits');

const april = rhythm('1 M', '2026-04-01');
const context = periodOf(april, 0);

for (const [amount, when, credit] of [
  ['20', '2026-04-01', '20'],
  ['20', '2026-04-11', '13.33'],
  ['20', '2026-04-21', '6.67'],
  ['20', '2026-04-30', '0.67'],
  ['20', '2026-04-30T23:59:59Z', '0'],
  ['20', '2026-05-01', '0'],
  ['35', '2026-04-11', '23.33'],
] as const) {
  test(`E 12.1 B of ${amount} for April, ${credit} is left at ${when}`, () => {
    const fee = charged(line(`${amount} M`, april), context);
    assert.is(creditLines(fee, at(when), context)[0]?.amount ?? '0', credit);
    const added = line(`${amount} M`, april, { start: at(when) });
    const [charge] = openingLines([added], context);
    assert.is(charge?.kind === 'charge' ? charge.amount : '0', credit);
  });
}

const march = span('2026-03-01', '2026-04-01');
const rest = span('2026-03-15', '2026-04-01');
for (const [old, next, credit, charge, net] of [
  ['10', '20', '5.48', '10.97', '5.49'],
  ['100', '30', '54.84', '16.45', '-38.39'],
  ['50', '100', '27.42', '54.84', '27.42'],
  ['1000', '500', '548.39', '274.19', '-274.2'],
  ['0', '25', '0', '13.71', '13.71'],
  ['40', '0', '21.94', '0', '-21.94'],
] as const) {
  test(`E 12.2 ${old} to ${next} with 17 of 31 days left: ${net}`, () => {
    const share = (amount: string) => prorated(text(amount), rest, march, [], usd);
    assert.equal([share(old), share(next)], [credit, charge]);
    assert.is(textOf(decimal(share(next)).minus(decimal(share(old)))), net);
  });
}

for (const [name, unused, amount, credited, returned, credit] of [
  ['what is left of the payment', '200', '200', '0', '50', '150'],
  ['what is left after a credit note', '100', '200', '0', '180', '20'],
  ['nothing, where more was given back', '100', '200', '0', '250', '0'],
  ['nothing, where nothing was paid', '0', '0', '0', '0', '0'],
  ['the unused part', '13.33', '20', '0', '0', '13.33'],
  ['B the unused part of what was paid, not of the list price', '3.33', '5', '0', '0', '3.33'],
  ['a credit note leaves less', '13.33', '20', '0', '8', '12'],
  ['E 31 a refund that leaves enough takes nothing off', '22.5', '90', '0', '20', '22.5'],
  ['a time that was credited before is not credited again', '15', '30', '10', '0', '5'],
] as const) {
  test(`E 12.2 ${name}: ${credit}`, () => {
    const paid = { amount: text(amount), credited: text(credited), returned: text(returned) };
    assert.is(creditOf(paid, text(unused)), credit);
  });
}

test('E 12.2 B what was never charged is not credited', () => {
  assert.equal(creditLines(line('20 M', april), at('2026-04-11'), context), []);
});

test('E 12.2 B a quarter that covers the instant is credited for the rest of the quarter', () => {
  const quarter = charged(line('60 Q', april), context);
  const [credit] = creditLines(quarter, at('2026-05-01'), context);
  // 61 of 91 days.
  assert.is(credit?.amount, '40.22');
});

test('a price that is charged once is not credited when it has begun, and whole before', () => {
  const setup = charged(line('60 1', april, { start: at('2026-04-10') }), context);
  assert.is(creditLines(setup, at('2026-04-09'), context)[0]?.amount, '60');
  assert.equal(creditLines(setup, at('2026-04-10'), context), []);
  assert.equal(creditLines(setup, at('2026-04-20'), context), []);
});

test('E 10.6 B a pause takes nothing away: what was unused when it began is unused when it is over', () => {
  const fee = charged(line('30 M', april), context);
  const pause = span('2026-04-11', '2026-04-16');
  const later = afterPause(fee, pause, 'UTC');
  assert.equal(later.charged[0]?.span, span('2026-04-01', '2026-05-06'));
  const after = { ...context, pauses: [pause] };
  assert.is(creditLines(later, at('2026-04-16'), after)[0]?.amount, '20');
  assert.is(creditLines(later, at('2026-04-26'), after)[0]?.amount, '10');
});

const day = 86_400_000;
const base = Date.parse('2026-01-01');

const anyInterval = fc
  .record({ from: fc.nat(400 * day), length: fc.integer({ min: 1, max: 400 * day }) })
  .map(
    ({ from, length }): Span => ({
      start: instantOf(base + from),
      end: instantOf(base + from + length),
    }),
  );

/** An instant within a stretch, its ends with it, by a number from 0 to 1,000,000. */
const within = ({ start, end }: Span, part: number) =>
  instantOf(
    millisecondsOf(start) +
      Number((BigInt(millisecondsOf(end) - millisecondsOf(start)) * BigInt(part)) / 1_000_000n),
  );

const anyPart = fc.nat(1_000_000);
const anyAmount = fc
  .integer({ min: 0, max: 10_000_000 })
  .map((cents) => text(textOf(decimal(`${cents}e-2`))));
const anyPauses = fc
  .uniqueArray(fc.nat(999_999), { maxLength: 6 })
  .map((places) => places.toSorted((one, other) => one - other));

const pausesIn = (all: Span, places: readonly number[]): Span[] =>
  places.flatMap((place, index) => {
    const next = places[index + 1];
    if (index % 2 === 1 || next === undefined) return [];
    return { start: within(all, place), end: within(all, next) };
  });

const isNear = (one: string, other: string): boolean =>
  decimal(one).minus(decimal(other)).abs().cmp(decimal('0.01')) <= 0;

const plus = (...amounts: readonly string[]): string =>
  textOf(amounts.reduce((sum, each) => sum.plus(decimal(each)), zero));

test('a stretch of time that is split costs what the whole costs, within one minor unit for each cut', () => {
  fc.assert(
    fc.property(anyInterval, anyPart, anyAmount, anyPauses, (all, part, amount, places) => {
      const pauses = pausesIn(all, places);
      const middle = within(all, part);
      const share = (start: typeof middle, end: typeof middle) =>
        prorated(amount, { start, end }, all, pauses, usd);
      assert.is(share(all.start, all.end), amount);
      assert.ok(isNear(plus(share(all.start, middle), share(middle, all.end)), amount));
      const first = within({ start: all.start, end: middle }, part);
      const parts = plus(share(all.start, first), share(first, middle));
      assert.ok(isNear(parts, share(all.start, middle)));
    }),
    { numRuns: 2_000 },
  );
});

test('credits come to the unused part whatever their order, never exceed the charge, and with what was used make the whole', () => {
  const anyCuts = fc.array(anyPart, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(anyInterval, anyCuts, anyAmount, anyPauses, (all, cuts, amount, places) => {
      const pauses = pausesIn(all, places);
      const here = { ...context, pauses };
      let fee = {
        ...line('1 M', april),
        charged: [
          { line_item_id: line('1 M', april).line_item_id, span: all, amount, credited: text('0') },
        ],
      };
      let earliest: string | null = null;
      for (const cut of cuts) {
        const when = within(all, cut);
        for (const credit of creditLines(fee, when, here)) {
          const credited = text(plus(credit.credited_before, credit.amount));
          fee = { ...fee, charged: fee.charged.map((each) => ({ ...each, credited })) };
        }
        if (earliest === null || when < earliest) earliest = when;
        const credited = fee.charged[0]?.credited ?? '0';
        const unused = { start: earliest as typeof when, end: all.end };
        assert.is(
          credited,
          unused.start < unused.end ? prorated(amount, unused, all, pauses, usd) : '0',
        );
        assert.ok(decimal(credited).cmp(decimal(amount)) <= 0);
        const used = { start: all.start, end: unused.start };
        const consumed = textOf(decimal(amount).minus(decimal(credited)));
        if (used.start < used.end)
          assert.ok(isNear(consumed, prorated(amount, used, all, pauses, usd)));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('later instants leave less', () => {
  fc.assert(
    fc.property(anyInterval, anyPart, anyPart, anyAmount, (all, one, other, amount) => {
      const left = (part: number) => {
        const rest = { start: within(all, part), end: all.end };
        return decimal(rest.start < rest.end ? prorated(amount, rest, all, [], usd) : '0');
      };
      const [earlier, later] = one <= other ? [one, other] : [other, one];
      assert.ok(left(earlier).cmp(left(later)) >= 0);
    }),
    { numRuns: 1_000 },
  );
});

test('an independent reckoning in thousandths of a cent agrees', () => {
  fc.assert(
    fc.property(anyInterval, anyPart, anyAmount, (all, part, amount) => {
      const middle = within(all, part);
      if (middle === all.end) return;
      const stretch = { span: { start: middle, end: all.end }, whole: all };
      const fee = {
        ...line('1 M', april),
        terms: { ...line('1 M', april).terms, unit_amount: amount },
      };
      const found = chargeFor(fee as never, stretch, context).amount;
      const cents = BigInt(decimal(amount).times(decimal('100')).toFixed(0));
      const [upper, lower] = [
        cents * BigInt(millisecondsOf(all.end) - millisecondsOf(middle)),
        BigInt(millisecondsOf(all.end) - millisecondsOf(all.start)),
      ];
      const rounded = upper / lower + ((upper % lower) * 2n >= lower ? 1n : 0n);
      assert.is(found, textOf(decimal(`${rounded}e-2`)));
    }),
    { numRuns: 2_000 },
  );
});

test.run();
