// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
import type {
  BilledAct,
  BilledDiscount,
  BilledItem,
  BilledLife,
  BilledPrice,
  BilledUse,
} from '@counterfoil/testkit';
import { billsOf } from '@counterfoil/testkit';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { YearWorld } from './test-year-world.ts';

const hour = 3_600_000;
const day = 24 * hour;

const text = (units: number, digits: number): string => {
  const size = String(units).padStart(digits + 1, '0');
  return digits === 0 ? size : `${size.slice(0, -digits)}.${size.slice(-digits)}`;
};

/** A price of one; of usage with more digits than the currency has. */
const anyAmount = (digits: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: 4_000 }).map((units) => text(units, digits));

const anyPrice = (digits: number): fc.Arbitrary<BilledPrice> => {
  const amount = anyAmount(digits);
  const tier = fc.record({ width: fc.integer({ min: 1, max: 12 }), each: amount, flat: amount });
  return fc.oneof(
    fc.record({ model: fc.constant('flat' as const), each: amount }),
    fc.record({
      ...{ model: fc.constant('package' as const), each: amount },
      ...{ of: fc.integer({ min: 2, max: 9 }), round: fc.constantFrom('up', 'down') },
    }),
    fc
      .tuple(fc.constantFrom('graduated', 'volume'), fc.array(tier, { minLength: 1, maxLength: 3 }))
      .map(([model, tiers]) => ({
        model,
        tiers: tiers.map(({ each, flat }, place) => ({
          ...{ each, flat },
          upTo:
            place === tiers.length - 1
              ? null
              : String(tiers.slice(0, place + 1).reduce((sum, { width }) => sum + width, 0)),
        })),
      })),
  );
};

const anyItem = (
  digits: number,
  months: number,
  { name, kinds }: { readonly name: string; readonly kinds: readonly BilledItem['kind'][] },
): fc.Arbitrary<BilledItem> =>
  fc.constantFrom(...kinds).chain((kind) =>
    fc.record({
      ...{ name: fc.constant(name), kind: fc.constant(kind) },
      price: anyPrice(kind === 'usage' ? digits + 2 : digits),
      quantity: kind === 'usage' ? fc.constant(0) : fc.integer({ min: 1, max: 20 }),
      months:
        kind === 'usage' || months === 3
          ? fc.constant(months)
          : fc.constantFrom(months, months, months, 3),
      isInclusive: fc.constantFrom(false, false, true),
    }),
  );

/** An instant of the year; often within the two hours after the end of a period, in which its invoice waits. */
const anyAt = (start: number): fc.Arbitrary<number> => {
  const anywhere = fc.integer({ min: 1, max: 364 * day }).map((later) => start + later);
  const first = new Date(start);
  const behindBoundary = fc
    .tuple(fc.integer({ min: 1, max: 11 }), fc.constantFrom(0, 1, 90 * 60_000), fc.boolean())
    .map(([months, later, isCalendar]) => {
      const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + months];
      const date = isCalendar ? 1 : Math.min(first.getUTCDate(), 28);
      return Date.UTC(year, month, date) + (isCalendar ? 0 : start % day) + later;
    });
  return fc.oneof({ weight: 3, arbitrary: anywhere }, { weight: 1, arbitrary: behindBoundary });
};

const anyUse = (start: number, line: string): fc.Arbitrary<BilledUse> =>
  fc
    .record({
      at: fc.integer({ min: 0, max: 370 * day }).map((later) => start + later),
      late: fc.constantFrom(0, 0, 0, 0, 3, 20, 40, 75, 100, 160, 280),
      value: fc.oneof(
        fc.integer({ min: 1, max: 30 }).map(String),
        fc.integer({ min: 1, max: 900 }).map((hundredths) => text(hundredths, 2)),
        fc.integer({ min: 1, max: 30 }).map((less) => `-${less}`),
      ),
    })
    .map(({ at, late, value }) => ({ line, at, arrives: at + late * day, value }));

const anyDiscount = (digits: number, line: string | null): fc.Arbitrary<BilledDiscount> =>
  fc.record({
    line: fc.constant(line),
    off: fc.oneof(
      fc.integer({ min: 1, max: 10_000 }).map((parts) => ({ percent: text(parts, 2) })),
      fc.integer({ min: 1, max: 60 }).map((parts) => ({ units: parts * 10 ** digits })),
    ),
    counts: fc.oneof(
      fc.constantFrom('once' as const, 'forever' as const),
      fc.integer({ min: 1, max: 5 }).map((periods) => ({ periods })),
    ),
  });

const anyRate = (digits: number) =>
  fc.oneof(
    ...[1, 2, 3].map(() =>
      fc.integer({ min: 1, max: 25_000 }).map((parts) => ({ percent: text(parts, 3) })),
    ),
    fc.integer({ min: 1, max: 5 }).map((parts) => ({ units: parts * 10 ** digits })),
  );

/** Acts of a caller: changes first, and one end at most. */
const anyActs = ({
  start,
  digits,
  months,
  items,
}: Pick<BilledLife, 'start' | 'digits' | 'months' | 'items'>): fc.Arbitrary<
  readonly BilledAct[]
> => {
  const fixed = items.filter(({ kind }) => kind !== 'usage').map(({ name }) => name);
  const names = items.map(({ name }) => name);
  const base = { at: anyAt(start), prorates: fc.boolean() };
  const quantity = fc.record({
    ...{ ...base, kind: fc.constant('quantity' as const) },
    ...{ line: fc.constantFrom(...fixed), quantity: fc.integer({ min: 1, max: 20 }) },
  });
  const kinds = ['advance', 'arrear'] as const;
  const add = fc.record({
    ...{ ...base, kind: fc.constant('add' as const) },
    item: anyItem(digits, months, { name: 'added', kinds }),
  });
  const remove = fc.record({
    ...{ ...base, kind: fc.constant('remove' as const), line: fc.constantFrom(...names) },
  });
  const end = fc.oneof(
    fc.record({ ...base, kind: fc.constantFrom('cancel' as const, 'cancel at end' as const) }),
    fc.record({ ...base, on: anyAt(start) }).map(({ at, on, prorates }) => ({
      ...{ kind: 'cancel on' as const, at: Math.min(at, on - 60_000), on, prorates },
    })),
  );
  const changes = fc.array(fc.oneof(quantity, quantity, add, remove), { maxLength: 4 });
  return fc.tuple(changes, fc.option(end, { freq: 3 })).map(([all, last]) => {
    const isOnce = (act: BilledAct, place: number): boolean =>
      act.kind !== 'add' || all.findIndex(({ kind }) => kind === 'add') === place;
    const before = all
      .filter((act, place) => isOnce(act, place) && (last === null || act.at < last.at))
      .toSorted((one, other) => one.at - other.at);
    return last === null ? before : [...before, last];
  });
};

/** A subscription of a year: what it is sold, how it is used, and what its customer does. */
export const anyBilledLife: fc.Arbitrary<BilledLife> = fc
  .record({
    digits: fc.constantFrom(2, 2, 2, 0, 3),
    start: fc
      .tuple(fc.integer({ min: 0, max: 364 }), fc.constantFrom(0, 0, 9.5 * hour))
      .map(([days, clock]) => Date.UTC(2026, 0, 1) + days * day + clock),
    months: fc.constantFrom(1 as const, 3 as const),
  })
  .chain(({ digits, start, months }) =>
    fc
      .tuple(
        anyItem(digits, months, { name: 'first', kinds: ['advance', 'arrear'] }),
        anyItem(digits, months, { name: 'second', kinds: ['advance', 'arrear'] }),
        anyItem(digits, months, { name: 'calls', kinds: ['usage'] }),
        anyItem(digits, months, { name: 'bytes', kinds: ['usage'] }),
        fc.integer({ min: 0, max: 3 }),
      )
      .map(([first, second, calls, bytes, more]) => [
        ...[first, ...(more % 2 === 1 ? [second] : [])],
        ...[calls, ...(more > 1 ? [bytes] : [])],
      ])
      .chain((items) => anyLifeOf({ digits, start, months, items })),
  );

const anyLifeOf = (
  sold: Pick<BilledLife, 'start' | 'digits' | 'months' | 'items'>,
): fc.Arbitrary<BilledLife> => {
  const { start, digits, items } = sold;
  const names = items.map(({ name }) => name);
  const used = items.filter(({ kind }) => kind === 'usage').map(({ name }) => name);
  return fc.record({
    ...{ digits: fc.constant(digits), start: fc.constant(start), items: fc.constant(items) },
    months: fc.constant(sold.months),
    anchor: fc.constantFrom('start', 'start', 'calendar'),
    prorates: fc.boolean(),
    uses: fc.array(
      fc.constantFrom(...used).chain((line) => anyUse(start, line)),
      { minLength: 5, maxLength: 60 },
    ),
    free: fc
      .array(
        fc.record({
          ...{ line: fc.constantFrom(...used), limit: fc.integer({ min: 0, max: 40 }) },
          resets: fc.constantFrom('MONTHLY', 'DAILY', 'NEVER'),
        }),
        { maxLength: 2 },
      )
      .map((all) =>
        all.filter(({ line }, place) => all.findIndex((each) => each.line === line) === place),
      ),
    discounts: fc
      .tuple(
        fc.option(fc.constantFrom(...names).chain((line) => anyDiscount(digits, line))),
        fc.option(anyDiscount(digits, null)),
      )
      .map((all) => all.flatMap((each) => each ?? [])),
    rates: fc.array(anyRate(digits), { maxLength: 2 }),
    isExempt: fc.constantFrom(false, false, false, false, false, true),
    wallets: fc.array(
      fc.record({
        units: fc.integer({ min: 1, max: 300 }).map((parts) => parts * 10 ** digits),
        pays: fc.constantFrom('USAGE' as const, 'ALL' as const),
      }),
      { maxLength: 2 },
    ),
    acts: anyActs(sold),
    until: fc.constant(start + 371 * day),
  });
};

/** The service and the model come to the same invoices, figure by figure. */
export async function assertSameYear(life: BilledLife): Promise<void> {
  const world = new YearWorld(life);
  const lived = await world.live();
  const { bills, balance } = billsOf(life);
  for (const [place, bill] of bills.entries()) assert.equal(lived.bills[place], bill);
  assert.is(lived.bills.length, bills.length);
  assert.is(lived.balance, balance);
}
