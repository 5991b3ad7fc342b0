import {
  newRecord,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { invariant, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { type Children, childOf, childrenOf } from '../child.ts';
import { entryDetails, futureExpiry } from '../commands.ts';
import { entryAfter, transactionOf } from '../ledger/transaction.ts';
import { transactionTable } from '../projection.ts';
import { movementSchema, reverseSchema, type TransactionResource } from '../schema.ts';
import { walletView } from '../view.ts';
import { wallet } from '../wallet.ts';
import { reverseEntry } from './decisions.ts';
import { type ReversibleEntry, reversibleEntry } from './reversals.ts';

const entries: Children<TransactionResource> = { table: transactionTable, after: entryAfter };

/** Looks an entry up that is to be reversed, with the lots that it drew from. Throws 404 and 400. */
async function entryOf(
  context: RequestContext,
  walletId: string,
  transactionId: string,
): Promise<ReversibleEntry> {
  const state = await context.load(wallet, walletId);
  if (!state) throw notFound('wallet', walletId);
  const entry = await childOf(context, entries, walletId, transactionId);
  if (entry?.wallet_id !== walletId) {
    throw notFound('transaction', transactionId, 'transaction_id');
  }
  const drawn = (entry.drawn_from ?? []).map(({ transaction_id }) => transaction_id);
  const loads = await childrenOf(context, entries, walletId, drawn);
  return reversibleEntry(entry, loads, state.reversals.count);
}

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
