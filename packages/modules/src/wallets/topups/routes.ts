import {
  newRecord,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import {
  invalidOperation,
  invariant,
  notFound,
  referenceSchema,
  zeroText,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { WalletDecision } from '../decisions.ts';
import { entryAfter, isEntry, transactionOf } from '../ledger/transaction.ts';
import { transactionTable } from '../projection.ts';
import {
  endTopUpSchema,
  invoicedReason,
  movementSchema,
  type TransactionResource,
} from '../schema.ts';
import { walletView } from '../view.ts';
import { topUpClaim, type WalletState, wallet } from '../wallet.ts';
import { cancelTopUp, completeTopUp } from './decisions.ts';

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

/** An entry from the log up to a revision of its wallet; null when it does not exist by then. */
async function entryFromLog(
  context: RequestContext,
  walletId: string,
  id: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<TransactionResource | null> {
  let entry: TransactionResource | null = null;
  for await (const event of context.history(wallet, walletId)) {
    if (event.revision > upTo) break;
    entry = entryAfter(entry, event, id);
  }
  return entry;
}

/** An entry that has ended: from the read model when it has the end, else from the log. */
async function endedEntry(
  context: RequestContext,
  walletId: string,
  id: string,
): Promise<TransactionResource> {
  const found = await context.read.find(transactionTable, id);
  if (found && found.resource.transaction_status !== 'pending') return found.resource;
  const entry = await entryFromLog(context, walletId, id);
  if (!entry) throw notFound('transaction', id);
  invariant(entry.transaction_status !== 'pending', `${id} is open, and its wallet does not know`);
  return entry;
}

/** The wallet of an entry at a revision of its stream. */
interface Standing {
  readonly state: WalletState;
  readonly revision: number;
}

/**
 * An entry as it was at a revision of its wallet, so that a repetition gets the same answer whatever has
 * been drawn from it since. The row serves when nothing later has changed it and it shows everything up
 * to there; otherwise the log is read up to there.
 */
async function entryAt(
  context: RequestContext,
  walletId: string,
  id: string,
  { state, revision }: Standing,
): Promise<TransactionResource> {
  const found = await context.read.find(transactionTable, id);
  const lot = state?.lots.find(({ transaction_id }) => transaction_id === id);
  const isAsThen =
    found !== null &&
    found.revision <= revision &&
    found.resource.transaction_status !== 'pending' &&
    found.resource.credits_available === (lot?.remaining ?? zeroText);
  if (isAsThen) return found.resource;
  const entry = await entryFromLog(context, walletId, id, revision);
  invariant(entry, `${id} has ended, and its wallet's stream does not have it`);
  return entry;
}

interface Ending {
  readonly id: string;
  readonly walletId: string;
  readonly wanted: 'completed' | 'failed';
  readonly decision: WalletDecision;
}

/** Refuses an order that has ended in another way, and an entry that never waited for a payment. */
async function assertEndedSo(
  context: RequestContext,
  { id, walletId, wanted }: Ending,
): Promise<void> {
  const { transaction_reason, transaction_status } = await endedEntry(context, walletId, id);
  if (transaction_reason === invoicedReason && transaction_status === wanted) return;
  throw invalidOperation(
    `Transaction ${id} has ${transaction_status} and does not wait for a payment.`,
    { transaction_status, transaction_reason },
  );
}

/** The order ended between the look-up and the decision. */
class EndedMeanwhile extends Error {}

const isOpen = (state: WalletState, id: string): boolean =>
  state?.topups.some(({ transaction_id }) => transaction_id === id) ?? false;

/**
 * Runs the decision. The wallet does not know how an order ended, so the end of an order that is not open
 * is looked up before: a refusal must leave nothing in the log. Throws `EndedMeanwhile`.
 */
function executeEnding(context: RequestContext, ending: Ending) {
  const { id, walletId, decision } = ending;
  return context.execute(wallet, walletId, {
    prepare: async () => {
      if (!isOpen(await context.load(wallet, walletId), id)) {
        await assertEndedSo(context, ending);
        return decision;
      }
      return (state, at) => {
        if (!isOpen(state, id)) throw new EndedMeanwhile();
        return decision(state, at);
      };
    },
  });
}

/**
 * Ends a top-up. One that has ended in this way before gets the same answer; one that has ended in
 * another is refused, as is an entry that never waited for a payment.
 */
async function endTopUp(
  context: RequestContext,
  id: string,
  wanted: Ending['wanted'],
  decision: (walletId: string) => WalletDecision,
) {
  const walletId = await walletOf(context, id);
  const ending = { id, walletId, wanted, decision: decision(walletId) };
  const { state, events, revision } = await executeEnding(context, ending).catch((error) => {
    // An end is final: this time it is looked up.
    if (error instanceof EndedMeanwhile) return executeEnding(context, ending);
    throw error;
  });
  const event = events.findLast((each) => isEntry(each) && each.data.transaction_id === id);
  const entry =
    event && isEntry(event)
      ? transactionOf(event, walletId)
      : await entryAt(context, walletId, id, { state, revision });
  return withETag({ wallet: walletView(state), wallet_transaction: entry }, revision);
}

export const topUpRoutes = {
  'POST /wallets/transactions/{id}/complete': route({
    summary: 'Load credits that were ordered and are paid for',
    description:
      'Ends a `pending` transaction: its credits are a lot from now on. Completing it again ' +
      'changes nothing and is answered the same.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: topUpParameters,
    body: endTopUpSchema,
    bodyOptional: true,
    response: movementSchema,
    example: { params: { id: newRecord('order') } },
    handle: (context, { params: { id } }) =>
      endTopUp(context, id, 'completed', (walletId) => completeTopUp(walletId, id)),
  }),

  'POST /wallets/transactions/{id}/cancel': route({
    summary: 'Give up credits that were ordered and are not paid for',
    description:
      'Ends a `pending` transaction as `failed`; no balance changes. Cancelling one that has ' +
      'failed changes nothing and is answered the same.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: topUpParameters,
    body: endTopUpSchema,
    bodyOptional: true,
    response: movementSchema,
    example: { params: { id: newRecord('order') } },
    handle: (context, { params: { id } }) =>
      endTopUp(context, id, 'failed', (walletId) => cancelTopUp(walletId, id)),
  }),
} satisfies Routes;
