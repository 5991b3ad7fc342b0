import type { AskingContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type Decimal,
  type DecimalText,
  spread,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { type Cell, cellsOf, weightsOf } from './cost-weights.ts';
import type { StretchesQuestion, usageInStretches } from './usage-in-stretches.ts';

/** The cells of a question with their weights, and last the weight of what they leave out. */
interface Weighed {
  readonly cells: readonly Cell[];
  readonly weights: readonly Decimal[];
}

/**
 * The weights of the usage of a question within all that is charged together.
 *
 * @param usageIn tells usage
 * @param all the question about all of it; null where `own` asks for that
 */
export async function weighedUsage(
  context: AskingContext,
  usageIn: typeof usageInStretches,
  own: StretchesQuestion,
  all: StretchesQuestion | null,
): Promise<Weighed> {
  const cells = cellsOf(own, await usageIn(context, own));
  const whole = all === null ? undefined : cellsOf(all, await usageIn(context, all));
  return { cells, weights: weightsOf(cells, whole) };
}

/**
 * The part of money that is charged for usage which falls to some of it, as `spreadCharge` has it: what the filters leave out has its share as well. Nothing
 * where nothing was used that the money could be for.
 */
export function partOfCharge(
  { weights }: Weighed,
  amount: DecimalText,
  currency: Currency,
): DecimalText {
  if (weights.every((weight) => weight.eq(zero))) return zeroText;
  const [own, ...rest] = spread(amount, weights, currency);
  // Without groups there is one cell, or none where nothing of it was used.
  return rest.length > 0 && own !== undefined ? own : zeroText;
}
