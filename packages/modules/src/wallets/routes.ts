import {
  expandParameter,
  newRecord,
  newText,
  type Outcome,
  ofTable,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  searchExample,
  withETag,
} from '@counterfoil/engine/define';
import { invariant, referenceSchema, type Stamped, zeroText } from '@counterfoil/kernel';
import { z } from 'zod';
import { bulkResults, moveInBulk } from './bulk/bulk.ts';
import { bulkAnswerSchema, bulkBytesMaximum, bulkSchema } from './bulk/schema.ts';
import { bulkEntries, debitOf, entryDetails, prepareCreation, topUpDecision } from './commands.ts';
import {
  changeSettings,
  debitCredits,
  freezeWallet,
  terminateWallet,
  unfreezeWallet,
} from './decisions.ts';
import type { WalletEvent } from './events.ts';
import { entryExpansion } from './expansion.ts';
import { type EntryEvent, isEntry, transactionOf } from './ledger/transaction.ts';
import { transactionTable, walletTable } from './projection.ts';
import { getWallet, listTransactions, searchTransactions, searchWallets } from './queries.ts';
import {
  createWalletSchema,
  debitSchema,
  expandedTransactionSchema,
  movementSchema,
  onlyKeySchema,
  searchTransactionsSchema,
  searchWalletsSchema,
  topUpSchema,
  transactionsQuerySchema,
  updateWalletSchema,
  walletSchema,
} from './schema.ts';
import { assertConsistentAlerts } from './settings.ts';
import { invoiceOfOrder, priceOfOrder } from './topups/decisions.ts';
import { walletView } from './view.ts';
import { type WalletState, wallet } from './wallet.ts';

const tag = 'Wallets';
const idParameters = z.object({ id: referenceSchema('wallet') });

/** The answer of a movement: the wallet after it, and the first entry that the caller asked for. */
function movementOf(
  {
    state,
    events,
    revision,
  }: { state: WalletState; events: readonly Stamped<WalletEvent>[]; revision: number },
  isAskedFor: (event: EntryEvent) => boolean,
) {
  const shown = walletView(state);
  const movement = events.find(
    (event): event is Stamped<EntryEvent> => isEntry(event) && isAskedFor(event),
  );
  invariant(movement, `${shown.id}: a movement was answered without its entry`);
  const wallet_transaction = transactionOf(movement, shown.id);
  const isInvoiced = movement.type === 'TopUpRequested' && priceOfOrder(movement.data) !== zeroText;
  const invoice = isInvoiced ? { invoice_id: invoiceOfOrder(wallet_transaction.id) } : {};
  return withETag({ wallet: shown, wallet_transaction, ...invoice }, revision);
}

/** Work that is done at once because of credits that were ordered: whoever invoices them tells it. */
export type OrderedAtOnce = (
  context: RequestContext,
  walletId: string,
  outcome: Outcome<WalletState, WalletEvent>,
) => Promise<void>;

/** The route that loads credits, or orders them. */
export const topUpRoute = (ordered: OrderedAtOnce) =>
  route({
    summary: 'Load credits',
    description:
      'By `credits_to_add`, or by `amount` divided by topup_conversion_rate. With PURCHASED_CREDIT_INVOICED the transaction is `pending` and changes no balance before it is completed.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: topUpSchema,
    response: movementSchema,
    example: {
      body: { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '5' },
      makes: 'order',
      madeIn: 'wallet_transaction',
    },
    handle: async (context, { params: { id }, body }) => {
      const outcome = await context.execute(wallet, id, {
        prepare: () => topUpDecision(context, id, body),
      });
      await ordered(context, id, outcome);
      return movementOf(
        outcome,
        ({ type }) => type === 'CreditsLoaded' || type === 'TopUpRequested',
      );
    },
  });

export const walletRoutes = {
  'POST /wallets': route({
    summary: 'Create a wallet',
    description:
      'One wallet that is not closed per customer, currency and type; with `allow_multiple` it may ' +
      'stand beside others.',
    tag,
    status: 200,
    permission: 'wallet:write',
    body: createWalletSchema,
    response: walletSchema,
    example: {
      body: {
        customer_id: newRecord('cust'),
        currency: 'usd',
        description: newText('Credits for tokens'),
        initial_credits_to_load: '10',
      },
      makes: 'wallet',
      names: { external_customer_id: 'cust.external_id', price_unit: 'price_unit.code' },
    },
    handle: async (context, { body }) => {
      const id = context.newId('wallet');
      const { state, revision } = await context.execute(wallet, id, {
        prepare: () => prepareCreation(context, id, body),
      });
      return withETag(walletView(state), revision);
    },
  }),

  'POST /wallets/search': route({
    summary: 'Search wallets',
    tag,
    status: 200,
    permission: 'wallet:read',
    body: ofTable(
      walletTable,
      searchWalletsSchema.extend({ expand: expandParameter([]) }).meta({ id: 'WalletSearch' }),
    ),
    bodyOptional: true,
    response: pageSchema(walletSchema),
    example: {
      body: searchExample,
      names: { wallet_ids: 'wallet', external_customer_id: 'cust.external_id' },
    },
    handle: (context, { body }) => searchWallets(context, body),
  }),

  'GET /wallets/{id}': route({
    summary: 'Get a wallet',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: idParameters,
    response: walletSchema,
    handle: async (context, { params }) => {
      const { resource, revision } = await getWallet(context, params.id);
      return withETag(resource, revision);
    },
  }),

  'PUT /wallets/{id}': route({
    summary: 'Change the settings of a wallet',
    description: 'Such as its priority, its alerts and automatic top-up.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: updateWalletSchema,
    response: walletSchema,
    example: { body: { name: newText('Credits') } },
    handle: async (context, { params: { id }, body }) => {
      if (body.alert_settings) assertConsistentAlerts(body.alert_settings);
      const { state, revision } = await context.execute(wallet, id, changeSettings(id, body));
      return withETag(walletView(state), revision);
    },
  }),

  'POST /wallets/{id}/top-up': topUpRoute(async () => undefined),

  'POST /wallets/{id}/debit': route({
    summary: 'Take credits',
    description:
      'All or nothing, unless `allow_partial` is true. A PRE_PAID wallet refuses more than its available credits; dated back, more than is left of those that were there then.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: debitSchema,
    response: movementSchema,
    example: {
      body: { credits: '1', description: newText('1,000 tokens') },
      makes: 'wtxn',
      madeIn: 'wallet_transaction',
    },
    handle: async (context, { params: { id }, body }) => {
      const outcome = await context.execute(wallet, id, {
        prepare: () => debitCredits(id, debitOf(context, body)),
      });
      return movementOf(outcome, ({ type }) => type === 'CreditsDebited');
    },
  }),

  'POST /wallets/{id}/transactions/bulk': route({
    summary: 'Load and take credits in one request',
    description: 'Up to 1,000 entries, in their order, as one change.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: bulkSchema,
    bodyLimitBytes: bulkBytesMaximum,
    response: bulkAnswerSchema,
    example: { body: { entries: [{ type: 'credit', credits: '2' }] } },
    handle: async (context, { params: { id }, body }) => {
      const { state, events, revision } = await context.execute(wallet, id, {
        prepare: () => moveInBulk(id, bulkEntries(context, body), body.atomic),
      });
      return withETag({ wallet: walletView(state), results: bulkResults(events, id) }, revision);
    },
  }),

  'POST /wallets/{id}/freeze': route({
    summary: 'Stop debits of a wallet',
    description: 'Credits may still be loaded. Freezing a frozen wallet changes nothing.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: onlyKeySchema,
    bodyOptional: true,
    example: { body: { idempotency_key: newText('freeze-1') } },
    response: walletSchema,
    handle: async (context, { params: { id } }) => {
      const { state, revision } = await context.execute(wallet, id, freezeWallet(id));
      return withETag(walletView(state), revision);
    },
  }),

  'POST /wallets/{id}/unfreeze': route({
    summary: 'Let debits of a frozen wallet through again',
    description: 'Of an active one it changes nothing.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: onlyKeySchema,
    bodyOptional: true,
    example: { body: { idempotency_key: newText('unfreeze-1') } },
    response: walletSchema,
    handle: async (context, { params: { id } }) => {
      const { state, revision } = await context.execute(wallet, id, unfreezeWallet(id));
      return withETag(walletView(state), revision);
    },
  }),

  'POST /wallets/transactions/search': route({
    summary: 'Search the entries of all wallets',
    tag,
    status: 200,
    permission: 'wallet:read',
    body: ofTable(
      transactionTable,
      searchTransactionsSchema
        .extend({ expand: entryExpansion.parameter })
        .meta({ id: 'WalletTransactionSearch' }),
    ),
    bodyOptional: true,
    response: pageSchema(expandedTransactionSchema),
    example: {
      body: searchExample,
      names: {
        id: 'wtxn',
        wallet_id: 'wallet',
        customer_id: 'cust',
        reference_id: 'wtxn.reference_id',
        created_by: 'owner',
      },
    },
    handle: (context, { body }) => searchTransactions(context, body),
  }),

  'POST /wallets/{id}/terminate': route({
    summary: 'Close a wallet for ever',
    description: 'What is left is taken out as WALLET_TERMINATION.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: idParameters,
    body: onlyKeySchema,
    bodyOptional: true,
    example: { body: { idempotency_key: newText('terminate-1') } },
    response: walletSchema,
    handle: async (context, { params: { id } }) => {
      const details = entryDetails(context, 'WALLET_TERMINATION');
      const { state, revision } = await context.execute(wallet, id, terminateWallet(id, details));
      return withETag(walletView(state), revision);
    },
  }),

  'GET /wallets/{id}/transactions': route({
    summary: 'List the entries of a wallet',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: idParameters,
    query: ofTable(
      transactionTable,
      transactionsQuerySchema.extend({ expand: entryExpansion.parameter }),
    ),
    response: pageSchema(expandedTransactionSchema),
    example: { names: { id: 'wtxn', reference_id: 'wtxn.reference_id', created_by: 'owner' } },
    handle: (context, { params, query }) => listTransactions(context, params.id, query),
  }),
} satisfies Routes;
