import { type DecimalText, decimal, divide, textOf, zeroText } from '@counterfoil/kernel';
import { displayTotal } from '../../pricing/index.ts';
import type { RatedCommitment } from '../../rating/index.ts';
import type { UsageCharges } from './schema.ts';

type Charge = UsageCharges['charges'][number];

/** Fraction digits of a quantity that does not end (D53). */
const places = 15;

/**
 * Charges by what is within a commitment of all usage and what is above (E 14.2 B): a line that is both comes twice, first with the part
 * within. The quantity of a part is as much of the whole as its cost is.
 */
export const chargesByCommitment = (
  charges: readonly Charge[],
  { gross, net }: { readonly gross: RatedCommitment; readonly net: RatedCommitment },
): readonly Charge[] =>
  charges.flatMap((charge) => {
    const isOf = ({ line_id }: { readonly line_id: string }) =>
      line_id === charge.subscription_line_item_id;
    const [share, netShare] = [gross.lines.find(isOf), net.lines.find(isOf)];
    const factor = gross.split.overage_factor;
    if (!share || !netShare || decimal(factor).eq(decimal('1'))) return [charge];
    if (share.overage_base === zeroText) {
      return [
        withAmounts(
          charge,
          charge.exact_quantity as DecimalText,
          share.utilized,
          netShare.utilized,
        ),
      ];
    }
    const within = textOf(
      divide(
        decimal(charge.exact_quantity).times(decimal(share.utilized)),
        decimal(share.amount),
        places,
      ),
    );
    const above = textOf(decimal(charge.exact_quantity).minus(decimal(within)));
    const overage: Charge = {
      ...withAmounts(charge, above, share.overage, netShare.overage),
      free_quantity: zeroText,
      is_overage: true,
      overage_factor: +factor,
    };
    return share.utilized === zeroText
      ? [{ ...overage, free_quantity: charge.free_quantity }]
      : [withAmounts(charge, within, share.utilized, netShare.utilized), overage];
  });

const withAmounts = (
  charge: Charge,
  quantity: DecimalText,
  amount: DecimalText,
  net_amount: DecimalText,
): Charge => ({
  ...charge,
  quantity: +quantity,
  exact_quantity: quantity,
  amount: +amount,
  exact_amount: amount,
  net_amount,
  display_amount: displayTotal(amount, charge.currency as RatedCommitment['currency']),
});
