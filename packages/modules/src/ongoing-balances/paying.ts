import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { isInherited, payerOf, subscription, usersOf } from '../subscriptions/index.ts';
import { notePaidUsage, type PaidUsage, paidUsage } from '../usage/index.ts';

/** The customers whose usage somebody else pays for by a subscription, as that is now; null where it is only the payer's own. */
async function paidBy(context: WorkContext, id: string): Promise<PaidUsage | null> {
  const state = await context.load(subscription, id);
  if (state === null || isInherited(state)) return null;
  const { parent } = state.family;
  const host =
    parent?.relation === 'grouped_invoicing'
      ? await context.load(subscription, parent.subscription_id)
      : null;
  const payer_id = payerOf(host ?? state);
  const users = usersOf(state).map(({ customer_id }) => customer_id as typeof payer_id);
  const customer_ids = [...new Set(users)].filter((user) => user !== payer_id).toSorted();
  return customer_ids.length === 0 ? null : { payer_id, customer_ids };
}

async function note({ aggregate_id: id }: { readonly aggregate_id: string }, context: WorkContext) {
  const paid = await paidBy(context, id);
  if (paid !== null) await context.beside().execute(paidUsage, id, notePaidUsage(paid));
}

/** Notes whose usage a customer pays for besides its own, so that it is a reason to look at its balance (ADR 48). */
export const usagePaidFor = reaction(subscription, {
  name: 'usage that is paid for',
  on: {
    SubscriptionCreated: async (event, context) => {
      const { invoicing_customer_id, heirs, parent } = event.data.family;
      // Mostly a customer pays for what it uses itself.
      const isPlain = invoicing_customer_id === null && heirs.length === 0 && parent === null;
      return isPlain ? undefined : note(event, context);
    },
    HeirsChanged: note,
    ParentChanged: note,
  },
});
