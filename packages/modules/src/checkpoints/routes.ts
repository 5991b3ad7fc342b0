import {
  listed,
  listShape,
  ofTable,
  pageSchema,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { checkpointTable } from './projection.ts';
import { checkpointSchema } from './schema.ts';
import { currentVerification, verificationSchema, verificationView } from './verification.ts';

const tag = 'Ledger checkpoints';

export const checkpointRoutes = {
  'GET /ledger/checkpoints': route({
    summary: 'List signed checkpoints of the ledger',
    description: 'Each signs the root of a tree over all wallet events up to a place in the log.',
    tag,
    status: 200,
    permission: 'ledger:read',
    query: ofTable(checkpointTable, z.object(listShape)),
    response: pageSchema(checkpointSchema),
    handle: (context, { query }) => listed(context, checkpointTable, query),
  }),

  'GET /ledger/verification': route({
    summary: 'Get how far the ledger has been verified, and what was found',
    description:
      'The service goes through its log again and again: it computes every hash, and holds log, checkpoints and read models against each other.',
    tag,
    status: 200,
    permission: 'ledger:read',
    response: verificationSchema,
    handle: async ({ read }) => {
      const found = await read.find(verificationView, currentVerification);
      if (!found) throw notFound('verification', currentVerification);
      return found.resource;
    },
  }),

  'GET /ledger/checkpoints/{id}': route({
    summary: 'Get a signed checkpoint of the ledger',
    tag,
    status: 200,
    permission: 'ledger:read',
    params: z.object({ id: referenceSchema('ckpt') }),
    response: checkpointSchema,
    handle: async (context, { params: { id } }) => {
      const found = await context.read.find(checkpointTable, id);
      if (!found) throw notFound('checkpoint', id);
      return found.resource;
    },
  }),
} satisfies Routes;
