import { flagParameter, newRecord, type Routes, route, unused } from '@counterfoil/engine/define';
import { referenceSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../customers/index.ts';
import { type UsageReadings, usageOfTables } from '../invoices/index.ts';
import { expandBalance, walletSchema, walletsOf } from '../wallets/index.ts';
import { realTimeBalance, realTimeBalances } from './queries.ts';
import { realTimeBalanceSchema } from './schema.ts';

const tag = 'Wallets';

/** A wallet, with its real-time balance where the request asks for it. */
const customerWalletSchema = z.union([realTimeBalanceSchema, walletSchema]);

/** The routes of what wallets have left once everything is paid that is owed. */
export const balanceRoutesWith = (usage: UsageReadings) =>
  ({
    'GET /wallets/{id}/balance/real-time': route({
      operationId: 'getWalletBalance',
      summary: 'Get what a wallet can still pay',
      description:
        'What can be spent, less usage that is not billed yet and invoices that are not paid, as far as the wallet is going to pay them.',
      tag,
      status: 200,
      permission: 'wallet:read',
      params: z.object({ id: referenceSchema('wallet') }),
      query: z.object({ expand: expandBalance }),
      response: realTimeBalanceSchema,
      handle: (context, { params }) => realTimeBalance(context, params.id, usage),
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
        const { id } = await customerReference(context, named, fields);
        return query.include_real_time_balance
          ? [...(await realTimeBalances(context, id, usage))]
          : walletsOf(context, id);
      },
    }),
  }) satisfies Routes;

/** The routes with usage as its tables have it. */
export const balanceRoutes = balanceRoutesWith(usageOfTables);
