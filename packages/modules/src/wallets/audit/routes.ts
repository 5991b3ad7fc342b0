import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { balanceAt, explain, ledgerPage } from './audit.ts';
import {
  balanceAnswerSchema,
  balanceQuerySchema,
  explanationSchema,
  ledgerPageSchema,
  ledgerQuerySchema,
} from './schema.ts';

const tag = 'Wallet audit';
const walletParameters = z.object({ id: referenceSchema('wallet') });

export const auditRoutes = {
  'GET /wallets/{id}/balance': route({
    operationId: 'getWalletBalanceAt',
    summary: 'Get what a wallet held at an instant, as known at another',
    description:
      'From the log alone, down to the lots. Credits that expired are gone from their nominal instant on, however late that was booked. Neither instant may lie in the future.',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: walletParameters,
    query: balanceQuerySchema,
    response: balanceAnswerSchema,
    handle: (context, { params, query }) => balanceAt(context, params.id, query),
  }),

  'GET /wallets/{id}/ledger': route({
    summary: 'Get the whole log of a wallet, with the links of its hash chain',
    description:
      'Every revision, also those that keep the answer to a request that changed nothing. `previous_hash` is the `hash` of the item before.',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: walletParameters,
    query: ledgerQuerySchema,
    response: ledgerPageSchema,
    handle: (context, { params, query }) => ledgerPage(context, params.id, query),
  }),

  'GET /wallets/{id}/transactions/{transaction_id}/explanation': route({
    summary: 'Explain an entry',
    description: 'Which lots it drew from, in which order and why.',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: walletParameters.extend({ transaction_id: referenceSchema('wtxn') }),
    response: explanationSchema,
    example: { params: { id: newRecord('wtxn', 'wallet_id') } },
    handle: (context, { params }) => explain(context, params.id, params.transaction_id),
  }),
} satisfies Routes;
