import type { AskingContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  type Instant,
  spread,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { Meter } from '../../meters/index.ts';
import type { UsageOf } from '../usage-of.ts';
import type { ChargesOf, ChargesOfMeter, SoldBy, UsageCharge } from './charged-usage.ts';
import type { Cell } from './cost-weights.ts';
import type { GroupQuestion } from './usage-in-groups.ts';
import { type StretchesQuestion, usageInStretches } from './usage-in-stretches.ts';
import { weighedUsage } from './usage-part.ts';

/** The cost of the usage that a question is about, in its groups and windows. */
export interface Costs {
  readonly currency: Currency;
  /** Null where several prices make it. */
  readonly soldBy: SoldBy | null;
  /** Money: what all groups cost together. */
  readonly total: DecimalText;
  of(group: readonly string[], window?: Instant): DecimalText;
}

/** Gives the costs of a question about what a meter counts; null where nothing prices it, or several currencies do. */
export type CostsOf = (meter: Meter, question: GroupQuestion) => Promise<Costs | null>;

/** Makes what tells the costs of one answer. Nothing has a cost where no customer is named. */
export async function costsIn(
  context: AskingContext,
  chargesOf: ChargesOf,
  customer: UsageOf['customer'],
  span: GroupQuestion['span'],
): Promise<CostsOf> {
  const customerIds = idsOf(customer);
  if (customerIds.length === 0) return async () => null;
  const charges = await chargesOf(context, { customerIds, span });
  return (meter, question) => costsOf(context, meter, question, charges);
}

function idsOf(customer: UsageOf['customer']): readonly string[] {
  switch (customer.kind) {
    case 'customer':
      return [customer.id];
    case 'customers':
      return customer.ids;
    case 'external':
    case 'all':
      return [];
    default:
      return customer satisfies never;
  }
}

/** A cost as an answer shows it: absent where nothing is priced. */
interface Cost {
  readonly currency?: Currency;
  readonly total_cost?: DecimalText;
}

/** The cost of a group. */
export const costOf = (costs: Costs | null, group: readonly string[]): Cost =>
  costs === null ? {} : { currency: costs.currency, total_cost: costs.of(group) };

/** The cost of a window of a group. */
export const costAt = (
  costs: Costs | null,
  group: readonly string[],
  start: Instant,
): { readonly cost?: DecimalText } => (costs === null ? {} : { cost: costs.of(group, start) });

/** The sum of costs that are all in one currency; none where nothing is priced, or in several. */
export function totalOf(all: readonly (Costs | null)[]): Cost {
  const priced = all.filter((each) => each !== null);
  const [first] = priced;
  if (!first || priced.some(({ currency }) => currency !== first.currency)) {
    return {};
  }
  const sum = priced.reduce((total, each) => total.plus(decimal(each.total)), zero);
  return { currency: first.currency, total_cost: textOf(sum) };
}

async function costsOf(
  context: AskingContext,
  meter: Meter,
  question: GroupQuestion,
  chargesOf: ChargesOfMeter,
): Promise<Costs | null> {
  const charges = await chargesOf(meter.id);
  const [first, ...others] = charges;
  if (!first || others.some(({ currency }) => currency !== first.currency)) return null;
  const { currency, soldBy } = first;
  const sums = new Map<string, Decimal>();
  const add = (place: string, amount: DecimalText): void => {
    sums.set(place, (sums.get(place) ?? zero).plus(decimal(amount)));
  };
  for (const charge of charges) {
    for (const { group, start, amount } of await spreadCharge(context, meter, question, charge)) {
      add(everything, amount);
      add(placeOf(group), amount);
      if (start !== null) add(placeOf(group, start), amount);
    }
  }
  const sumAt = (place: string) => textOf(sums.get(place) ?? zero);
  const isOne = others.every((other) => other.soldBy.price.id === soldBy.price.id);
  return {
    ...{ currency, soldBy: isOne ? soldBy : null, total: sumAt(everything) },
    of: (group, start) => sumAt(placeOf(group, start)),
  };
}

const everything = '';
const placeOf = (group: readonly string[], start?: Instant): string =>
  JSON.stringify([group, start ?? null]);

type PricedCell = Pick<Cell, 'group' | 'start'> & { readonly amount: DecimalText };

/**
 * Spreads a charge over the groups and windows of a question by largest remainder, so that they add up to it; what a
 * filter leaves out, and what others used, has its share as well.
 */
async function spreadCharge(
  context: AskingContext,
  meter: Meter,
  question: GroupQuestion,
  { all: stretches, asked, span, currency, amount }: UsageCharge,
): Promise<readonly PricedCell[]> {
  const { of, ...rest } = question;
  const own: StretchesQuestion = {
    ...{ ...rest, span, eventName: of.eventName },
    stretches: asked ?? stretches,
  };
  const isPart =
    own.sources.length > 0 || own.filters.length > meter.filters.length || asked !== null;
  if (!isPart && own.groupings.length === 0 && own.windows === null) {
    return [{ group: [], start: null, amount }];
  }
  const whole: StretchesQuestion = {
    ...{ ...own, stretches, filters: meter.filters },
    ...{ sources: [], groupings: [], windows: null },
  };
  const all = isPart ? whole : null;
  const { cells, weights } = await weighedUsage(context, usageInStretches, own, all);
  // Charged without usage, such as a minimum: there is nothing that it could be the cost of.
  if (weights.every((weight) => weight.cmp(zero) === 0)) return [];
  const amounts = spread(amount, weights, currency);
  return cells.map(({ group, start }, index) => ({
    group,
    start,
    amount: amounts[index] ?? textOf(zero),
  }));
}
