// Lives of one fixed line, drawn at random, against a plain integral of its price over time.

import { decimal, instantOf, millisecondsOf, type Span, textOf, zero } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closingLines, openingLines, type SettlementContext } from './boundaries.ts';
import { cancellationLines, changeQuantity, type Replacement, replaceLine } from './changes.ts';
import type { ChargedLine } from './charged-line.ts';
import { afterPause, lengthened } from './pauses.ts';
import type { SettlementLine } from './settlement.ts';
import { line, lineId, rhythm, text, usd, withCharge } from './test-lines.ts';

const test = suite('lives of lines');

/** One thing that is done to a line: at so many millionths of the time until the period ends. */
const anyAct = fc.record({
  kind: fc.constantFrom('quantity', 'price', 'pause', 'next period', 'next period'),
  part: fc.nat(999_999),
  figure: fc.nat(400),
  days: fc.integer({ min: 1, max: 40 }),
});

const anyLife = fc.record({
  year: fc.integer({ min: 2023, max: 2026 }),
  month: fc.nat(11),
  day: fc.integer({ min: 1, max: 28 }),
  unit: fc.constantFrom('M', 'Q', 'A'),
  invoiced: fc.constantFrom('advance', 'arrear'),
  quantity: fc.nat(40),
  price: fc.nat(100_000),
  acts: fc.array(anyAct, { maxLength: 12 }),
  last: fc.nat(999_999),
});
type Life = typeof anyLife extends fc.Arbitrary<infer Value> ? Value : never;

const cents = (figure: number) => text(textOf(decimal(`${figure}e-2`)));
const within = ({ start, end }: Span, part: number) => {
  const [from, to] = [millisecondsOf(start), millisecondsOf(end)];
  return instantOf(from + Math.floor(((to - from) / 1_000_000) * part));
};

/** A line in a subscription of months, as far as a test lives through it. */
interface Lived {
  readonly all: readonly ChargedLine[];
  readonly context: SettlementContext;
  readonly settled: readonly SettlementLine[];
  readonly pauses: readonly Span[];
  /** Months are counted from the anchor; so many have begun since. */
  readonly months: { readonly anchor: number; readonly begun: number };
}

function recorded(lived: Lived, lines: readonly SettlementLine[]): Lived {
  const credited = (of: ChargedLine, each: SettlementLine): ChargedLine =>
    each.kind !== 'credit'
      ? of
      : {
          ...of,
          charged: of.charged.map((charge) =>
            charge.line_item_id === each.line_item_id &&
            charge.span.start === each.whole.start &&
            charge.span.end === each.whole.end
              ? {
                  ...charge,
                  credited: textOf(decimal(charge.credited).plus(decimal(each.amount))),
                }
              : charge,
          ),
        };
  const all = lived.all.map((of) =>
    lines.reduce((now, each) => credited(withCharge(now, each), each), of),
  );
  return { ...lived, all, settled: [...lived.settled, ...lines] };
}

const opened = (lived: Lived): Lived => recorded(lived, openingLines(lived.all, lived.context));

function replaced(lived: Lived, replacement: Replacement): Lived {
  const all = [...lived.all.slice(0, -1), replacement.ended, replacement.begun];
  return recorded({ ...lived, all }, replacement.lines);
}

function done(lived: Lived, act: Life['acts'][number], place: number): Lived {
  const { context, all } = lived;
  const current = all.at(-1) as ChargedLine;
  const rest = {
    start: current.start > context.window.start ? current.start : context.window.start,
    end: context.window.end,
  };
  const when = within(rest, act.part);
  const change = { at: when, proration: 'create_prorations' as const };
  const line_item_id = lineId(`line ${place}`);
  switch (act.kind) {
    case 'quantity': {
      const quantity = text(String(act.figure % 40));
      return replaced(lived, changeQuantity(current, { line_item_id, quantity }, context, change));
    }
    case 'price': {
      const terms = {
        ...current.terms,
        unit_amount: cents(act.figure * 100),
      } as ChargedLine['terms'];
      return replaced(
        lived,
        replaceLine(current, { ...current, line_item_id, terms }, context, change),
      );
    }
    case 'pause': {
      const last = lived.pauses.at(-1)?.end ?? rest.start;
      const start = within(
        { start: last > rest.start ? last : rest.start, end: rest.end },
        act.part,
      );
      const pause = { start, end: instantOf(millisecondsOf(start) + act.days * 86_400_000) };
      const window = lengthened(context.window, pause);
      const pauses = [...lived.pauses, pause];
      return {
        ...lived,
        pauses,
        all: all.map((each) => afterPause(each, pause, 'UTC')),
        context: { ...context, window, whole: window, pauses },
        months: { anchor: millisecondsOf(window.end), begun: 0 },
      };
    }
    default: {
      const closed = recorded(lived, closingLines(all, context));
      const months = { ...lived.months, begun: lived.months.begun + 1 };
      const end = instantOf(shifted(months.anchor, months.begun));
      const window = { start: context.window.end, end };
      return opened({ ...closed, months, context: { ...context, window, whole: window } });
    }
  }
}

function lived({ acts, last, ...life }: Life): { lived: Lived; end: string } {
  const start = new Date(Date.UTC(life.year, life.month, life.day)).toISOString();
  const months = rhythm('1 M', start);
  const first = line(`0 ${life.unit} ${life.invoiced}`, months, {
    quantity: text(String(life.quantity)),
  });
  const window = { start: months.start, end: instantOf(shifted(Date.parse(start), 1)) };
  const begun: Lived = {
    all: [
      {
        ...first,
        terms: { ...first.terms, unit_amount: cents(life.price) } as ChargedLine['terms'],
      },
    ],
    context: { currency: usd, zone: 'UTC', window, whole: window, pauses: [], commitment: null },
    settled: [],
    pauses: [],
    months: { anchor: Date.parse(start), begun: 1 },
  };
  const before = acts.reduce(done, opened(begun));
  const from = [
    before.context.window.start,
    before.all.at(-1)?.start ?? '',
    before.pauses.at(-1)?.end ?? '',
  ]
    .sort()
    .at(-1) as never;
  const end = within({ start: from, end: before.context.window.end }, last);
  const change = { at: end, proration: 'create_prorations' as const, skips_arrears: false };
  return { lived: recorded(before, cancellationLines(before.all, before.context, change)), end };
}

const net = (settled: readonly SettlementLine[]) =>
  settled.reduce((sum, each) => {
    if (!('amount' in each)) return sum;
    return each.kind === 'charge'
      ? sum.plus(decimal(each.amount))
      : sum.minus(decimal(each.amount));
  }, zero);

test('what is charged less what is credited is the price over the time that was used, whatever happened', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      const { lived: found, end } = lived(life);
      const exact = integral(found, end);
      const off = Math.abs(Number(net(found.settled).toFixed()) - exact);
      // Each line is rounded once.
      assert.ok(
        off <= 0.005 * found.settled.length + 1e-6,
        `${off} after ${found.settled.length} lines`,
      );
    }),
    { numRuns: 1_500 },
  );
});

/** The price over time: each part of each line by its share of the period that it lies in, pauses left out. */
function integral({ all, pauses }: Lived, end: string): number {
  const [first] = all as [ChargedLine];
  const until = Date.parse(end);
  const inPause = (from: number, to: number): number =>
    pauses.reduce(
      (sum, pause) =>
        sum +
        Math.max(0, Math.min(to, Date.parse(pause.end)) - Math.max(from, Date.parse(pause.start))),
      0,
    );
  const billable = (from: number, to: number) => (to > from ? to - from - inPause(from, to) : 0);
  const months =
    first.period === 'ONETIME'
      ? 0
      : { MONTHLY: 1, QUARTERLY: 3, ANNUAL: 12 }[first.period.unit as 'MONTHLY'];
  let total = 0;
  let from = Date.parse(first.start);
  let [anchor, begun] = [from, 0];
  while (from < until) {
    begun += 1;
    let to = shifted(anchor, begun * months);
    for (const pause of pauses) {
      const [start, length] = [
        Date.parse(pause.start),
        Date.parse(pause.end) - Date.parse(pause.start),
      ];
      if (start < from || start >= to) continue;
      // A pause that begins before the period is over makes it longer, and moves all later ones.
      to += length;
      [anchor, begun] = [to, 0];
    }
    const whole = billable(from, to);
    for (const each of all) {
      const [start, stop] = [
        Date.parse(each.start),
        each.end === null ? until : Date.parse(each.end),
      ];
      const part = billable(Math.max(from, start), Math.min(to, stop, until));
      const price = Number(each.terms.model === 'flat_fee' ? each.terms.unit_amount : 0);
      total += (price * Number(each.quantity) * part) / whole;
    }
    from = to;
  }
  return total;
}

const shifted = (from: number, months: number): number => {
  const date = new Date(from);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
};

test.run();
