import { newRecord, type Routes, route, withETag } from '@counterfoil/engine/define';
import { invariant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { entryDetails, futureExpiry } from '../commands.ts';
import { transactionOf } from '../ledger/transaction.ts';
import { movementSchema, reverseSchema } from '../schema.ts';
import { walletView } from '../view.ts';
import { wallet } from '../wallet.ts';
import { reverseEntry } from './decisions.ts';
import { entryOf } from './give-back.ts';

export const reversalRoutes = {
  'POST /wallets/{id}/transactions/{transaction_id}/reverse': route({
    summary: 'Give the credits of a debit back',
    description:
      'All that is left of the entry, or the part in `credits`, to the lots that it drew, the last one first. A lot that has expired meanwhile comes back with `expiry_date_utc`, by default after 30 days.',
    tag: 'Wallets',
    status: 200,
    permission: 'wallet:write',
    params: z.object({ id: referenceSchema('wallet'), transaction_id: referenceSchema('wtxn') }),
    body: reverseSchema,
    bodyOptional: true,
    response: movementSchema,
    example: {
      params: { id: newRecord('wtxn', 'wallet_id'), transaction_id: newRecord('wtxn') },
      body: { description: 'Taken by mistake' },
    },
    handle: async (context, { params: { id, transaction_id }, body }) => {
      const reverse = {
        ...entryDetails(context, 'CREDIT_ADJUSTMENT', body),
        credits: body.credits ?? null,
      };
      const { state, events, revision } = await context.execute(wallet, id, {
        prepare: async () =>
          reverseEntry(id, await entryOf(context, id, transaction_id), {
            ...reverse,
            expiresAt: futureExpiry(context.now, body.expiry_date_utc ?? null, '/expiry_date_utc'),
          }),
      });
      const movement = events.find((event) => event.type === 'DebitReversed');
      invariant(movement, 'an entry was reversed without its event');
      const wallet_transaction = transactionOf(movement, id);
      return withETag({ wallet: walletView(state), wallet_transaction }, revision);
    },
  }),
} satisfies Routes;
