import {
  type Currency,
  type Decimal,
  decimal,
  fractionDigits,
  shareOf,
  spread,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { Bill, BilledLine, BilledTax } from './bill.ts';
import type { AppliedTax } from './events.ts';
import { both, onBoth, partsOf, rounded, type Sides, sidesOf, spreadOver, sum } from './sides.ts';

type Taxable = Pick<Bill, 'currency' | 'lines' | 'taxes'>;

/** The taxes of an invoice, and what each line has of them. */
export interface Taxed {
  readonly taxes: AppliedTax[];
  /** On top of the amount of each line. */
  readonly added: readonly Decimal[];
  /** Within the amount of each line. */
  readonly included: readonly Decimal[];
}

/**
 * The taxes of lines, all on the same base: they do not compound. A percentage is added to lines whose price is without tax; out of the amounts
 * of lines whose price has it in it, all percentages together are taken at once, so that each amount is the base and its taxes to
 * the last unit. What a tax provider has said of a tax stays as it was said. A fixed tax is in no price: it is added where something is taxable (E 21 B), to lines without tax first.
 *
 * @param nets the amounts of the lines after discounts
 */
export function taxed(bill: Taxable, nets: readonly Decimal[]): Taxed {
  const given = givenOn(bill);
  const within = together(includedIn(bill, nets), given.within);
  const onTop = together(addedOn(bill, nets), given.onTop);
  const taxes = bill.taxes.map((tax, index): AppliedTax => {
    const own = nets.map((net, place) => net.minus(within.ofLine[place] ?? zero));
    const included = within.ofTax[index] ?? zero;
    return {
      ...tax,
      taxable_amount: textOf(sum(forLines(tax, bill.lines, own))),
      tax_amount: textOf(included.plus(onTop.ofTax[index] ?? zero)),
      ...(!included.eq(zero) && { included_amount: textOf(included) }),
    };
  });
  return { taxes, added: onTop.ofLine, included: within.ofLine };
}

/** Amounts by tax, and by line. */
interface Amounts {
  readonly ofTax: readonly Decimal[];
  readonly ofLine: readonly Decimal[];
}

const isFor = ({ line_ids }: Pick<BilledTax, 'line_ids'>, { id }: BilledLine): boolean =>
  line_ids === undefined || line_ids.includes(id);

/** The amounts of the lines that a tax is for; zero for every other. */
const forLines = (
  tax: Pick<BilledTax, 'line_ids'>,
  lines: readonly BilledLine[],
  amounts: readonly Decimal[],
): readonly Decimal[] =>
  lines.map((line, place) => (isFor(tax, line) ? (amounts[place] ?? zero) : zero));

const together = (some: Amounts, others: Amounts): Amounts => ({
  ofTax: plus(some.ofTax, others.ofTax),
  ofLine: plus(some.ofLine, others.ofLine),
});

/** The parts of lines as tax providers have said them: within the amounts of those that have it in them, else on top. */
function givenOn({ lines, taxes }: Taxable): { readonly within: Amounts; readonly onTop: Amounts } {
  const sidesOn = (isWithin: boolean): Amounts => {
    const amounts = taxes.map(({ shares = [] }) => {
      const byLine = new Map(shares.map(({ line_id, amount }) => [line_id, decimal(amount)]));
      return lines.map((line) =>
        isInclusive(line) === isWithin ? (byLine.get(line.id) ?? zero) : zero,
      );
    });
    return {
      ofTax: amounts.map(sum),
      ofLine: amounts.reduce(
        plus,
        lines.map(() => zero),
      ),
    };
  };
  return { within: sidesOn(true), onTop: sidesOn(false) };
}

const isWorkedOut = ({ shares }: Pick<BilledTax, 'shares'>): boolean => shares === undefined;

/** Percentages on top of what is without tax, and fixed taxes. Those that are for the same lines are spread over them together. */
function addedOn({ currency, lines, taxes }: Taxable, nets: readonly Decimal[]): Amounts {
  const without = nets.map((net, place) => (isInclusive(lines[place]) ? zero : net));
  const ofTax = taxes.map(() => zero);
  let ofLine: readonly Decimal[] = lines.map(() => zero);
  const own = [...taxes.entries()].flatMap(([index, tax]) => (isWorkedOut(tax) ? [index] : []));
  const groups = Map.groupBy(own, (index) => taxes[index]?.line_ids?.join('\n') ?? null);
  for (const indices of groups.values()) {
    const [tax] = indices.flatMap((index) => taxes[index] ?? []);
    if (!tax) continue;
    const [taxable, all] = [forLines(tax, lines, without), forLines(tax, lines, nets)];
    const base = sidesOf(taxable);
    const sides = indices.map((index) => addedBy(taxes[index] ?? tax, base, all, currency));
    for (const [place, index] of indices.entries()) ofTax[index] = both(sides[place] ?? nothing);
    const added = {
      charged: sum(sides.map(({ charged }) => charged)),
      back: sum(sides.map(({ back }) => back)),
    };
    const ups = base.charged.eq(zero) ? all : taxable;
    ofLine = plus(ofLine, spreadOver(added, ups, currency, taxable));
  }
  return { ofTax, ofLine };
}

const nothing: Sides = { charged: zero, back: zero };

function addedBy(
  { percentage, fixed }: BilledTax,
  base: Sides,
  all: readonly Decimal[],
  currency: Currency,
): Sides {
  if (percentage !== null) return partsOf(base, percentage, currency);
  const isTaxable = both(sidesOf(all)).cmp(zero) > 0;
  return {
    charged: isTaxable && fixed !== null ? rounded(decimal(fixed), currency) : zero,
    back: zero,
  };
}

/** Percentages within what has them in it. Lines with the same ones are taken together: their tax is rounded once, and spread over them. */
function includedIn({ currency, lines, taxes }: Taxable, nets: readonly Decimal[]): Amounts {
  let ofTax: readonly Decimal[] = taxes.map(() => zero);
  let ofLine: readonly Decimal[] = lines.map(() => zero);
  const inclusive = [...lines.entries()].filter(([, line]) => isInclusive(line));
  const groups = Map.groupBy(inclusive, ([, line]) =>
    taxes.map((tax) => (isFor(tax, line) ? '1' : '0')).join(''),
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const rates = taxes.map((tax) =>
      isWorkedOut(tax) && isFor(tax, first[1]) && tax.percentage !== null
        ? decimal(tax.percentage)
        : zero,
    );
    const places = new Set(group.map(([place]) => place));
    const own = nets.map((net, place) => (places.has(place) ? net : zero));
    const taken = onBoth(sidesOf(own), (amount) => taxIn(amount, sum(rates), currency));
    ofLine = plus(ofLine, spreadOver(taken, own, currency));
    for (const side of [taken.charged, taken.back]) {
      ofTax = plus(
        ofTax,
        spread(textOf(side), rates, currency).map((share) => decimal(share)),
      );
    }
  }
  return { ofTax, ofLine };
}

/** The tax in an amount that has it in it: amount × percentage ÷ (100 + percentage), exact, and rounded once. */
function taxIn(amount: Decimal, percentage: Decimal, currency: Currency): Decimal {
  const scale = decimal(`1${'0'.repeat(fractionDigits(percentage))}`);
  const part = BigInt(percentage.times(scale).toFixed(0));
  const whole = BigInt(scale.times(decimal('100')).toFixed(0)) + part;
  return decimal(shareOf(amount, part, whole, currency));
}

const isInclusive = (line: BilledLine | undefined): boolean => line?.tax_behavior === 'inclusive';

const plus = (some: readonly Decimal[], others: readonly Decimal[]): readonly Decimal[] =>
  some.map((amount, index) => amount.plus(others[index] ?? zero));
