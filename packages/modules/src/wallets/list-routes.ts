import { ofTable, pageSchema, type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../customers/index.ts';
import { walletTable } from './projection.ts';
import { searchWallets, walletsOf } from './queries.ts';
import { listWalletsSchema, walletSchema } from './schema.ts';

const tag = 'Wallets';

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
} satisfies Routes;
