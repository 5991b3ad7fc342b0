import {
  type Decimal,
  type DecimalText,
  decimal,
  minorUnits,
  shareOf,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { Settlement, SettlementCredit } from '../settlement/index.ts';

/** A credit by where it goes. */
export interface DividedCredit {
  readonly credit: SettlementCredit;
  /** Money: the part that lowers what the same settlement charges. */
  readonly within: DecimalText;
  /** Money: the rest, which is given back, and its tax. */
  readonly beyond: DecimalText;
  readonly tax: DecimalText;
}

/** The credits of a settlement in their order: first they lower what it charges, the rest is given back (D33). */
export function dividedCredits({ lines, currency }: Settlement): readonly DividedCredit[] {
  let charged = lines.reduce(
    (sum, line) => (line.kind === 'charge' ? sum.plus(decimal(line.amount)) : sum),
    zero,
  );
  const digits = decimal(`1e${minorUnits(currency)}`);
  const units = (amount: Decimal): bigint => BigInt(amount.times(digits).toFixed(0));
  return lines.flatMap((credit) => {
    if (credit.kind !== 'credit') return [];
    const amount = decimal(credit.amount);
    const within = smaller(amount, charged);
    charged = charged.minus(within);
    const beyond = amount.minus(within);
    const tax = shareOf(decimal(credit.tax ?? '0'), units(beyond), units(amount), currency);
    return { credit, within: textOf(within), beyond: textOf(beyond), tax };
  });
}
