import { reaction } from '@counterfoil/engine/define';
import { settingAt } from '../../settings/index.ts';
import { alertEvents } from '../alerts.ts';
import type { WalletDecision } from '../decisions.ts';
import type { PurchaseBonus } from '../events.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { wallet } from '../wallet.ts';
import { concluded } from './automatic.ts';
import { type BoughtCredits, bonusEvents, bonusFor } from './bonus.ts';

/**
 * The bonus of what a wallet has bought by itself: the one that a caller's purchase would have brought, by the slabs at the instant of the load, or of the order that was paid. The
 * decision that tops a wallet up knows of no settings: it follows every movement of credits, and would have to read them each time.
 */
export const automaticBonuses = reaction(wallet, {
  name: 'bonus of an automatic top-up',
  on: {
    CreditsLoaded: async ({ aggregate_id: id, data, stamp }, context) => {
      if (data.automatic === undefined) return;
      const at = data.requested?.at ?? stamp.occurred_at;
      const { enabled, slabs } = await settingAt(context, 'bonus_credits_topup_config', at);
      const bonus = enabled ? bonusFor(slabs, data.credits) : null;
      if (bonus === null) return;
      const { transaction_id: transactionId, priority, ...entry } = data;
      const bought = {
        ...{ transactionId, priority, idempotencyKey: entry.idempotency_key },
        ...{ referenceType: entry.reference_type, referenceId: entry.reference_id },
      };
      await context.execute(wallet, id, loadBonus(bought, bonus));
    },
  },
});

/**
 * Loads the bonus of credits that were loaded before; a closed wallet takes none. It is a part of the purchase, and no occasion for another one: what is too
 * small to lift a wallet above its threshold is not repeated by itself.
 */
const loadBonus =
  (bought: BoughtCredits, bonus: PurchaseBonus): WalletDecision =>
  (state, at) => {
    if (!state || state.wallet_status === 'closed') return [];
    return chain(state, [
      (current) => dueEvents(current, at),
      ...concluded(at),
      (current) => bonusEvents(current, bought, bonus, at),
      alertEvents,
    ]);
  };
