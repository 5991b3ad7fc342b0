import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { type DecimalText, decimal, textOf, zero, zeroText } from '@counterfoil/kernel';
import type { Settlement } from '../settlement/index.ts';
import { subscription } from '../subscription.ts';
import { type DividedCredit, dividedCredits } from './divided-credits.ts';
import { giveSubscriptionCredits } from './wallet-credits.ts';

/**
 * Lowers what is still owed for the charges that credits are of. Returns the money that goes to nobody then, with tax, because it was
 * never paid. Repeating it does the same.
 */
export type LowerDebts = (
  context: ReactionContext,
  subscriptionId: string,
  settlement: Settlement,
  credits: readonly DividedCredit[],
) => Promise<DecimalText>;

const nothingOwed: LowerDebts = async () => zeroText;

/**
 * The part that a settlement gives back beyond what it charges, with its tax, goes to the customer's wallet (D33, ADR 41), less what of
 * it was never paid (D64).
 *
 * @param lowerDebts what is owed is known by whoever invoices; left out, everything counts as paid
 */
export const creditsOfSettlements = (lowerDebts: LowerDebts = nothingOwed) =>
  reaction(subscription, {
    name: 'credits of a settlement',
    on: {
      SettlementRecorded: async ({ aggregate_id: id, data }, context) => {
        const credits = dividedCredits(data).filter(({ beyond }) => beyond !== zeroText);
        if (credits.length === 0) return;
        const { settlement_id, reason, at } = data;
        const worth = credits.reduce(
          (sum, { beyond, tax }) => sum.plus(decimal(beyond)).plus(decimal(tax)),
          zero,
        );
        const left = worth.minus(decimal(await lowerDebts(context, id, data, credits)));
        if (left.cmp(zero) <= 0) return;
        await giveSubscriptionCredits(context, id, {
          worth: { kind: 'money', amount: textOf(left) },
          conversion_rate: null,
          topup_conversion_rate: null,
          referenceType: 'EXTERNAL',
          referenceId: settlement_id,
          description: null,
          idempotencyKey: settlement_id,
          metadata: { subscription_id: id, settlement_id, reason, at },
          priority: null,
          expiresAt: null,
        });
      },
    },
  });
