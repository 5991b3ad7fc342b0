import {
  flagParameter,
  newRecord,
  ofTable,
  pageSchema,
  type Routes,
  route,
  unused,
} from '@counterfoil/engine/define';
import { referenceSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../customers/index.ts';
import { expandBalance } from './expansion.ts';
import { walletTable } from './projection.ts';
import { realTimeBalance, searchWallets, walletsOf } from './queries.ts';
import { listWalletsSchema, realTimeBalanceSchema, walletSchema } from './schema.ts';

const tag = 'Wallets';

/** A wallet, with its real-time balance where the request asks for it. */
const customerWalletSchema = z.union([realTimeBalanceSchema, walletSchema]);

/** Wallets of one customer and of all. A customer's own list is a bare array (client contract). */
export const walletListRoutes = {
  'GET /wallets': route({
    summary: 'List wallets',
    tag,
    status: 200,
    permission: 'wallet:read',
    query: ofTable(walletTable, listWalletsSchema),
    response: pageSchema(walletSchema),
    example: { names: { external_customer_id: 'cust.external_id' } },
    handle: (context, { query }) => searchWallets(context, query),
  }),

  'GET /customers/{id}/wallets': route({
    operationId: 'getWalletsByCustomerId',
    summary: 'List the wallets of a customer',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: z.object({ id: referenceSchema('cust') }),
    response: z.array(walletSchema),
    handle: async (context, { params }) => {
      const customer = await customerReference(context, { customer_id: params.id });
      return walletsOf(context, customer.id);
    },
  }),

  'GET /customers/wallets': route({
    operationId: 'getCustomerWallets',
    summary: 'List the wallets of a customer, named by id or lookup_key',
    description: '`lookup_key` is the external_id of the customer.',
    tag,
    status: 200,
    permission: 'wallet:read',
    query: z.object({
      id: referenceSchema('cust').optional(),
      lookup_key: textSchema(255).optional(),
      include_real_time_balance: flagParameter.optional(),
      expand: expandBalance,
      from_cache: unused,
      '-': unused,
    }),
    response: z.array(customerWalletSchema),
    example: {
      query: { id: newRecord('cust'), include_real_time_balance: 'true' },
      names: { lookup_key: 'cust.external_id' },
    },
    handle: async (context, { query }) => {
      const named = { customer_id: query.id, external_customer_id: query.lookup_key };
      const fields = { id: 'id', externalId: 'lookup_key' };
      const customer = await customerReference(context, named, fields);
      const shown = await walletsOf(context, customer.id);
      if (!query.include_real_time_balance) return shown;
      return Promise.all(shown.map((wallet) => realTimeBalance(context, wallet.id)));
    },
  }),
} satisfies Routes;
