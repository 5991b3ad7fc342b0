import {
  newRecord,
  newText,
  type Outcome,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import {
  BrokenInvariant,
  type DebitId,
  decimal,
  invariant,
  Problem,
  referenceSchema,
  refusal,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { isEntry, transactionOf } from '../ledger/transaction.ts';
import type { TransactionResource } from '../schema.ts';
import { wallet } from '../wallet.ts';
import {
  type CustomerDebitEvent,
  type CustomerDebits,
  customerDebits,
  customerDebitsId,
  type DebitCompletion,
  type DebitRefusal,
  type DebitRequest,
  isWaiting,
} from './customer-debits.ts';
import { debitsCarriedOut } from './reactions.ts';
import { debitRequest } from './request.ts';
import { type CustomerDebitResource, customerDebitSchema, debitCustomerSchema } from './schema.ts';

type DebitOutcome = Outcome<CustomerDebits, CustomerDebitEvent>;

export const customerDebitRoutes = {
  'POST /customers/{id}/debit': route({
    summary: 'Take credits of several wallets of a customer',
    description:
      'All or nothing, unless `allow_partial`, of the active wallets in a currency: by `priority`, PRE_PAID before ' +
      'POST_PAID, the oldest first.',
    tag: 'Wallets',
    status: 200,
    permission: 'wallet:write',
    params: z.object({ id: referenceSchema('cust') }),
    body: debitCustomerSchema,
    response: customerDebitSchema,
    example: {
      params: { id: newRecord('wallet', 'customer_id') },
      body: { currency: 'usd', amount: '1', description: newText('A month of tokens') },
    },
    handle: async (context, { params, body }) => {
      const id = customerDebitsId(params.id, body.currency);
      const debitId = context.newId('debit');
      const outcome = await context.execute(customerDebits, id, {
        prepare: () => debitRequest(context, params.id, debitId, body),
      });
      return carriedOut(context, id, outcome);
    },
  }),
} satisfies Routes;

/** The answer to a debit that was recorded, after it and those before it were carried out. */
async function carriedOut(
  context: RequestContext,
  id: string,
  outcome: DebitOutcome,
): Promise<CustomerDebitResource> {
  const request = outcome.events.find((event) => event.type === 'DebitRequested');
  invariant(request, `${id}: a debit was answered without its request`);
  const known = outcome.replayed ? await endOf(context, id, outcome, request.data) : null;
  if (!known) await carryOutUpTo(context, id, outcome);
  const end = known ?? (await endOf(context, id, outcome, request.data));
  if (!end) {
    throw new Problem(
      'service_unavailable',
      'The debit is recorded and not carried out yet. Send it again with its Idempotency-Key.',
      { retryAfterSeconds: 1 },
    );
  }
  if ('available' in end) throw shortage(request.data, end);
  return shown(context, request.data, end);
}

/** Carries a debit out, behind those that were waiting before it. */
async function carryOutUpTo(
  context: RequestContext,
  id: string,
  outcome: DebitOutcome,
): Promise<void> {
  const [first, ...others] = outcome.state.waiting;
  if (first && others.length > 0) {
    for await (const event of context.history(customerDebits, id, { from: first.number })) {
      const { revision } = event;
      if (revision >= outcome.revision) break;
      if (!isWaiting(outcome.state, event.data.debit_id)) continue;
      await context.carryOut(debitsCarriedOut, id, { ...outcome, events: [event], revision });
    }
  }
  await context.carryOut(debitsCarriedOut, id, outcome);
}

/** The end of a debit, as the log has it behind its request; null while there is none. */
async function endOf(
  context: RequestContext,
  id: string,
  { revision }: DebitOutcome,
  { debit_id }: { readonly debit_id: DebitId },
): Promise<DebitCompletion | DebitRefusal | null> {
  for await (const event of context.history(customerDebits, id, { from: revision + 1 })) {
    if (event.type !== 'DebitRequested' && event.data.debit_id === debit_id) return event.data;
  }
  return null;
}

/** The refusal of a debit, in what was asked for: money, or credits. */
function shortage(debit: DebitRequest, end: DebitRefusal) {
  const { amount, credits, currency, customer_id, effective_at } = debit;
  const available = credits === null ? end.available.amount : end.available.credits;
  const requested = credits ?? amount;
  const unit = credits === null ? currency : 'credits';
  if (effective_at !== undefined) {
    return refusal(
      `Of their credits of ${effective_at} the wallets of ${customer_id} have ${available} ${unit} left, ${requested} requested.`,
      { reason: 'insufficient_credits_then', available, requested, effective_at },
    );
  }
  return refusal(
    `The wallets of ${customer_id} have ${available} ${unit} available, ${requested} requested.`,
    { reason: 'insufficient_credits', available, requested },
  );
}

async function shown(
  context: RequestContext,
  request: DebitRequest,
  { amount, credits, entries }: DebitCompletion,
): Promise<CustomerDebitResource> {
  const { debit_id, customer_id, currency } = request;
  const transactions = await Promise.all(
    entries.map(({ wallet_id, revision }) => entryAt(context, wallet_id, revision)),
  );
  const part = request.allow_partial ? shortfall(request, { amount, credits }) : {};
  return { id: debit_id, customer_id, currency, amount, credits, ...part, transactions };
}

/** The figure that was asked for, and the part of it that was not there. Rounding may have taken more; then nothing is missing. */
function shortfall(
  request: Pick<DebitRequest, 'amount' | 'credits'>,
  taken: Pick<DebitCompletion, 'amount' | 'credits'>,
): Pick<CustomerDebitResource, 'requested' | 'missing'> {
  const requested = request.credits ?? request.amount;
  const left = decimal(requested).minus(
    decimal(request.credits === null ? taken.amount : taken.credits),
  );
  return { requested, missing: left.cmp(zero) > 0 ? textOf(left) : zeroText };
}

/** The entry at a revision of its wallet. */
async function entryAt(
  context: RequestContext,
  walletId: string,
  revision: number,
): Promise<TransactionResource> {
  const range = { from: revision, maximum: 1 };
  for await (const event of context.history(wallet, walletId, range)) {
    if (isEntry(event)) return transactionOf(event, walletId);
  }
  throw new BrokenInvariant(`${walletId} has no entry at revision ${revision}`);
}
