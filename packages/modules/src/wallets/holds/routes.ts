import {
  listShape,
  newRecord,
  newText,
  ofTable,
  pageRequest,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  searchFilters,
  where,
  withETag,
} from '@counterfoil/engine/define';
import { existing, invariant, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { type Children, childOf } from '../child.ts';
import { entryDetails, futureExpiry } from '../commands.ts';
import type { WalletDecision } from '../decisions.ts';
import { transactionOf } from '../ledger/transaction.ts';
import { holdTable } from '../projection.ts';
import { getWallet } from '../queries.ts';
import { movementSchema, onlyKeySchema } from '../schema.ts';
import { walletView } from '../view.ts';
import { type WalletState, wallet } from '../wallet.ts';
import { captureHold, changeHold, holdCredits, voidHold } from './decisions.ts';
import {
  captureHoldSchema,
  changeHoldSchema,
  createHoldSchema,
  type HoldResource,
  holdAfter,
  holdSchema,
  openHoldView,
} from './resource.ts';

const tag = 'Wallet holds';
const walletParameters = z.object({ id: referenceSchema('wallet') });
const holdParameters = walletParameters.extend({ hold_id: referenceSchema('hold') });

const holds: Children<HoldResource> = {
  table: holdTable,
  after: (hold, event, id) => holdAfter(hold, event, id, event.aggregate_id),
};

/**
 * A hold of a wallet: an open one as the wallet has it, one that has ended as the log has it at a revision.
 * Throws 404.
 */
async function holdOf(
  context: RequestContext,
  walletId: string,
  id: string,
  upTo?: number,
): Promise<HoldResource> {
  const open = openHoldIn(await context.load(wallet, walletId), id);
  if (open) return open;
  const hold = await childOf(context, holds, walletId, id, upTo);
  if (hold?.wallet_id !== walletId) throw notFound('hold', id, 'hold_id');
  return hold;
}

function openHoldIn(state: WalletState, id: string): HoldResource | null {
  const open = state?.holds.find((each) => each.id === id);
  return state && open ? openHoldView(state, open) : null;
}

/** A decision that also notes the hold it is made on: others may have changed it since the request looked at it. */
function notingHold(id: string, decide: WalletDecision) {
  let noted: HoldResource | null = null;
  const decideAndNote: WalletDecision = (state, at) => {
    noted = openHoldIn(state, id) ?? noted;
    return decide(state, at);
  };
  return { decide: decideAndNote, noted: (): HoldResource | null => noted };
}

export const holdRoutes = {
  'POST /wallets/{id}/holds': route({
    summary: 'Set credits aside',
    description:
      'The credits stay in the balance, are not available and do not expire until the hold ends.',
    tag,
    status: 201,
    permission: 'wallet:write',
    params: walletParameters,
    body: createHoldSchema,
    response: holdSchema,
    example: { body: { credits: '2', description: newText('A long run') }, makes: 'hold' },
    handle: async (context, { params: { id }, body }) => {
      const holdId = context.newId('hold');
      const { events } = await context.execute(wallet, id, {
        prepare: () =>
          holdCredits(id, {
            holdId,
            credits: body.credits,
            expiresAt: futureExpiry(context.now, body.expires_at ?? null, '/expires_at'),
            description: body.description ?? null,
            metadata: body.metadata,
          }),
      });
      const hold = events.reduce<HoldResource | null>(
        (made, event) => holdAfter(made, event, holdId, id),
        null,
      );
      return existing(hold, 'hold that was made');
    },
  }),

  'GET /wallets/{id}/holds': route({
    summary: 'List the holds of a wallet',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: walletParameters,
    query: ofTable(
      holdTable,
      z.object({
        ...listShape,
        hold_status: z.enum(['open', 'captured', 'voided', 'expired']).optional(),
      }),
    ),
    response: pageSchema(holdSchema),
    handle: async (context, { params, query }) => {
      await getWallet(context, params.id);
      return context.read.list(holdTable, pageRequest(holdTable, query), [
        ...where('wallet_id', 'eq', params.id),
        ...where('hold_status', 'eq', query.hold_status),
        ...searchFilters(holdTable, query),
      ]);
    },
  }),

  'GET /wallets/{id}/holds/{hold_id}': route({
    summary: 'Get a hold',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: holdParameters,
    response: holdSchema,
    example: { params: { id: newRecord('hold', 'wallet_id') } },
    handle: async (context, { params: { id, hold_id } }) => {
      const found = await context.read.find(holdTable, hold_id);
      if (found?.resource.wallet_id !== id) throw notFound('hold', hold_id, 'hold_id');
      return found.resource;
    },
  }),

  'PUT /wallets/{id}/holds/{hold_id}': route({
    summary: 'Set what a hold sets aside, and until when',
    description: 'Up or down. More must be available; less goes back to its lots.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: holdParameters,
    body: changeHoldSchema,
    response: holdSchema,
    example: { params: { id: newRecord('hold', 'wallet_id') }, body: { credits: '3' } },
    handle: async (context, { params: { id, hold_id }, body }) => {
      const change = {
        credits: body.credits ?? null,
        expiresAt: futureExpiry(context.now, body.expires_at ?? null, '/expires_at'),
      };
      const found = await holdOf(context, id, hold_id);
      const { decide, noted } = notingHold(hold_id, changeHold(id, hold_id, change));
      const { events } = await context.execute(wallet, id, decide);
      const before = noted() ?? found;
      return events.reduce((hold, event) => holdAfter(hold, event, hold_id, id) ?? hold, before);
    },
  }),

  'POST /wallets/{id}/holds/{hold_id}/capture': route({
    summary: 'Debit what a hold has set aside',
    description:
      'In whole, or in part by `credits`; the rest goes back, and the hold ends, unless `final` is false.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: holdParameters,
    body: captureHoldSchema,
    bodyOptional: true,
    response: movementSchema,
    example: {
      params: { id: newRecord('hold', 'wallet_id') },
      body: { description: 'Taxi to the airport' },
    },
    handle: async (context, { params: { id, hold_id }, body }) => {
      const details = {
        ...entryDetails(context, 'MANUAL_BALANCE_DEBIT', body),
        referenceType: 'EXTERNAL' as const,
        referenceId: hold_id,
      };
      const { state, events, revision } = await context.execute(wallet, id, {
        prepare: async () => {
          await holdOf(context, id, hold_id);
          return captureHold(id, hold_id, body.credits ?? null, details, body.final);
        },
      });
      const movement = events.find((event) => event.type === 'HoldCaptured');
      invariant(movement, 'a hold was captured without its event');
      const wallet_transaction = transactionOf(movement, id);
      return withETag({ wallet: walletView(state), wallet_transaction }, revision);
    },
  }),

  'POST /wallets/{id}/holds/{hold_id}/void': route({
    summary: 'Give a hold up',
    description: 'Its credits go back to their lots.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: holdParameters,
    body: onlyKeySchema,
    bodyOptional: true,
    response: holdSchema,
    example: {
      params: { id: newRecord('hold', 'wallet_id') },
      body: { idempotency_key: newText('void-1') },
    },
    handle: async (context, { params: { id, hold_id } }) => {
      const { decide, noted } = notingHold(hold_id, voidHold(id, hold_id));
      const { events, revision } = await context.execute(wallet, id, {
        prepare: async () => {
          await holdOf(context, id, hold_id);
          return decide;
        },
      });
      // A repetition is answered without a decision; its hold ended long ago.
      const before = noted() ?? (await holdOf(context, id, hold_id, revision));
      return events.reduce((hold, event) => holdAfter(hold, event, hold_id, id) ?? hold, before);
    },
  }),
} satisfies Routes;
