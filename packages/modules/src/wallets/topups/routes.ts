import {
  newRecord,
  newText,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { existing, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { type Children, childOf } from '../child.ts';
import type { WalletDecision } from '../decisions.ts';
import { entryAfter, isEntry, transactionOf } from '../ledger/transaction.ts';
import { transactionTable } from '../projection.ts';
import { movementSchema, onlyKeySchema, type TransactionResource } from '../schema.ts';
import { walletView } from '../view.ts';
import { topUpClaim, wallet } from '../wallet.ts';
import { cancelTopUp, completeTopUp, type EndedEntry } from './decisions.ts';

const tag = 'Wallets';
const topUpParameters = z.object({ id: referenceSchema('wtxn') });

/**
 * The wallet of an entry. An entry that waits for its payment is found by the log, however far the read
 * model is; others by the read model. Throws 404.
 */
async function walletOf(context: RequestContext, id: string): Promise<string> {
  const holder = await context.holderOf(wallet, topUpClaim, id);
  if (holder !== null) return holder;
  const found = await context.read.find(transactionTable, id);
  if (!found) throw notFound('transaction', id);
  return found.resource.wallet_id;
}

const entries: Children<TransactionResource> = { table: transactionTable, after: entryAfter };

/** The end of an entry that does not wait for its payment; null while it does. Throws 404. */
async function endOf(
  context: RequestContext,
  walletId: string,
  id: string,
): Promise<EndedEntry | null> {
  const state = await context.load(wallet, walletId);
  if (state?.topups.some(({ transaction_id }) => transaction_id === id)) return null;
  const entry = await childOf(context, entries, walletId, id);
  if (!entry) throw notFound('transaction', id);
  return entry;
}

/**
 * Ends a top-up. One that has ended in this way before gets the same answer; one that has ended in
 * another is refused, as is an entry that never waited for a payment.
 */
async function endTopUp(
  context: RequestContext,
  id: string,
  decide: (walletId: string, id: string, ended: EndedEntry | null) => WalletDecision,
) {
  const walletId = await walletOf(context, id);
  const { state, events, revision } = await context.execute(wallet, walletId, {
    prepare: async () => decide(walletId, id, await endOf(context, walletId, id)),
  });
  const event = events.findLast((each) => isEntry(each) && each.data.transaction_id === id);
  // A repetition gets the entry as it was then, whatever has been drawn from it since.
  const entry =
    event && isEntry(event)
      ? transactionOf(event, walletId)
      : await childOf(context, entries, walletId, id, revision);
  const wallet_transaction = existing(entry, 'transaction that has ended');
  return withETag({ wallet: walletView(state), wallet_transaction }, revision);
}

export const topUpRoutes = {
  'POST /wallets/transactions/{id}/complete': route({
    summary: 'Load credits that were ordered and are paid for',
    description:
      'Ends a `pending` transaction: its credits are a lot from now on. Completing it again is answered the same.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: topUpParameters,
    body: onlyKeySchema,
    bodyOptional: true,
    response: movementSchema,
    example: {
      params: { id: newRecord('order') },
      body: { idempotency_key: newText('payment-1') },
    },
    handle: (context, { params: { id } }) => endTopUp(context, id, completeTopUp),
  }),

  'POST /wallets/transactions/{id}/cancel': route({
    summary: 'Give up credits that were ordered and are not paid for',
    description:
      'Ends a `pending` transaction as `failed`. Cancelling one that has failed is answered the same.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: topUpParameters,
    body: onlyKeySchema,
    bodyOptional: true,
    response: movementSchema,
    example: {
      params: { id: newRecord('order') },
      body: { idempotency_key: newText('payment-1') },
    },
    handle: (context, { params: { id } }) => endTopUp(context, id, cancelTopUp),
  }),
} satisfies Routes;
