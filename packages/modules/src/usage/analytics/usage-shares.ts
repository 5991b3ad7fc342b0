import type { AskingContext } from '@counterfoil/engine/define';
import { type Currency, type DecimalText, spread, zero, zeroText } from '@counterfoil/kernel';
import { cellsOf, weightsOf } from './cost-weights.ts';
import { analyticsLimits } from './limits.ts';
import type { StretchesQuestion, usageInStretches } from './usage-in-stretches.ts';

/** A group of usage, with its share of what all of it is charged for. */
export interface UsageShare {
  /** The value of each grouping, in their order. */
  readonly group: readonly string[];
  readonly usage: DecimalText;
  readonly events: number;
  /** Money: the shares of all groups add up to the amount. */
  readonly cost: DecimalText;
  /** Of a hundred, with two digits: those of all groups add up to a hundred. */
  readonly percentage: DecimalText;
}

/** The most groupings that one answer has. */
export const groupingsMaximum = analyticsLimits.groupings;

/**
 * Tells usage in groups, each with its share of an amount: by its quantity, or by its events where quantities of parts do not add up, by
 * largest remainder.
 *
 * @param usageIn tells usage
 */
export async function usageShares(
  context: AskingContext,
  usageIn: typeof usageInStretches,
  asked: Omit<StretchesQuestion, 'windows'>,
  { amount, currency }: { readonly amount: DecimalText; readonly currency: Currency },
): Promise<readonly UsageShare[]> {
  const question: StretchesQuestion = { ...asked, windows: null };
  const groups = await usageIn(context, question);
  const weights = weightsOf(cellsOf(question, groups));
  const isWeighed = weights.some((weight) => weight.cmp(zero) > 0);
  const costs = isWeighed ? spread(amount, weights, currency) : [];
  const hundredths = isWeighed ? spread('100' as DecimalText, weights, twoDigits) : [];
  return groups.map(({ group, value, events }, index) => ({
    group,
    usage: value ?? zeroText,
    events,
    cost: costs[index] ?? zeroText,
    percentage: hundredths[index] ?? zeroText,
  }));
}

/** A currency of two digits: percentages have as many. */
const twoDigits = 'usd' as Currency;
