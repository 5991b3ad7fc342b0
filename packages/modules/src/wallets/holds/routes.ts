import {
  listShape,
  newRecord,
  newText,
  pageRequest,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  searchFilters,
  where,
  withETag,
} from '@counterfoil/engine/define';
import { invariant, notFound, referenceSchema, type Stamped } from '@counterfoil/kernel';
import { z } from 'zod';
import { entryDetails, futureExpiry } from '../commands.ts';
import type { WalletEvent } from '../events.ts';
import { transactionOf } from '../ledger/transaction.ts';
import { holdTable, walletTable } from '../projection.ts';
import { getWallet } from '../queries.ts';
import { movementSchema } from '../schema.ts';
import { walletView } from '../view.ts';
import { wallet } from '../wallet.ts';
import { captureHold, holdCredits, voidHold } from './decisions.ts';
import {
  captureHoldSchema,
  createHoldSchema,
  type HoldResource,
  holdAfter,
  holdIdOf,
  holdSchema,
  openHoldView,
} from './resource.ts';

const tag = 'Wallet holds';
const walletParameters = z.object({ id: referenceSchema('wallet') });
const holdParameters = walletParameters.extend({ hold_id: referenceSchema('hold') });

/** A hold of this wallet. Throws 404. */
async function getHold(
  context: RequestContext,
  walletId: string,
  id: string,
): Promise<HoldResource> {
  const found = await context.read.find(holdTable, id);
  if (found?.resource.wallet_id !== walletId) throw notFound('hold', id, 'hold_id');
  return found.resource;
}

/**
 * The hold while it is open; null for one that has ended. Throws 404 for an unknown one. The log decides;
 * the read model only saves reading through it for holds of long ago.
 */
async function openHoldOf(
  context: RequestContext,
  walletId: string,
  id: string,
): Promise<HoldResource | null> {
  const state = await context.load(wallet, walletId);
  const hold = state?.holds.find((each) => each.id === id);
  if (state && hold) return openHoldView(state, hold);
  await knownHold(context, walletId, id);
  return null;
}

/** A hold of this wallet, from the log when the read model does not have it. Throws 404. */
async function knownHold(
  context: RequestContext,
  walletId: string,
  id: string,
): Promise<HoldResource> {
  // The wallet first: the holds that are read after it show at least as much. Events that it shows are not
  // read again in the log, or an unknown id would cost the whole history of the wallet.
  const shown = await context.read.find(walletTable, walletId);
  const found = await context.read.find(holdTable, id);
  const from = shown ? shown.revision + 1 : 0;
  const hold = found?.resource ?? (await holdFromLog(context, walletId, id, from));
  if (hold?.wallet_id !== walletId) throw notFound('hold', id, 'hold_id');
  return hold;
}

/** A hold that a request of this wallet has ended: it is in the log, however far the read model is. */
async function endedHold(
  context: RequestContext,
  walletId: string,
  id: string,
): Promise<HoldResource> {
  const found = await context.read.find(holdTable, id);
  const hold = found?.resource ?? (await holdFromLog(context, walletId, id, 0));
  invariant(hold, `${walletId}: hold ${id} was ended and is not there`);
  return hold;
}

/** A hold from the events of its wallet, from a revision on; null when they do not have it. */
async function holdFromLog(
  context: RequestContext,
  walletId: string,
  id: string,
  from: number,
): Promise<HoldResource | null> {
  let hold: HoldResource | null = null;
  for await (const event of context.history(wallet, walletId, { from })) {
    if (holdIdOf(event) === id) hold = holdAfter(hold, event);
  }
  return hold;
}

/** The hold after the event that gave it up. Others may have expired in the same request. */
function voidedBy(
  events: readonly Stamped<WalletEvent>[],
  walletId: string,
  before: HoldResource,
): HoldResource {
  const event = events.find(
    (each) => each.type === 'HoldReleased' && each.data.hold_id === before.id,
  );
  const hold = event && holdAfter(before, { ...event, ...noPlace(walletId) });
  invariant(hold, `${walletId}: hold ${before.id} was voided without its event`);
  return hold;
}

/** The place of an event in its wallet, where only the wallet matters. */
const noPlace = (walletId: string) => ({
  event_id: '',
  aggregate_id: walletId,
  revision: 0,
  position: '0',
});

/** The hold as one event has left it, for the answer of the request that caused it. */
function heldBy(events: readonly Stamped<WalletEvent>[], walletId: string): HoldResource {
  const event = events.find(({ type }) => type === 'CreditsHeld');
  invariant(event, 'a hold was made without its event');
  const hold = holdAfter(null, { ...event, ...noPlace(walletId) });
  invariant(hold, 'a hold was made and is not there');
  return hold;
}

export const holdRoutes = {
  'POST /wallets/{id}/holds': route({
    summary: 'Set credits aside',
    description:
      'The credits leave what is available and stay in the balance, until the hold is captured, ' +
      'voided or expires. They do not expire while they are held.',
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
      return heldBy(events, id);
    },
  }),

  'GET /wallets/{id}/holds': route({
    summary: 'List the holds of a wallet',
    tag,
    status: 200,
    permission: 'wallet:read',
    params: walletParameters,
    query: z.object({
      ...listShape,
      hold_status: z.enum(['open', 'captured', 'voided', 'expired']).optional(),
    }),
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
    handle: (context, { params }) => getHold(context, params.id, params.hold_id),
  }),

  'POST /wallets/{id}/holds/{hold_id}/capture': route({
    summary: 'Debit what a hold has set aside',
    description: 'In whole, or in part by `credits`; the rest goes back. Either way the hold ends.',
    tag,
    status: 200,
    permission: 'wallet:write',
    params: holdParameters,
    body: captureHoldSchema,
    bodyOptional: true,
    response: movementSchema,
    example: { params: { id: newRecord('hold', 'wallet_id') } },
    handle: async (context, { params: { id, hold_id }, body }) => {
      const details = {
        ...entryDetails(context, 'MANUAL_BALANCE_DEBIT', body),
        referenceType: 'EXTERNAL' as const,
        referenceId: hold_id,
      };
      const { state, events, revision } = await context.execute(wallet, id, {
        prepare: async () => {
          await openHoldOf(context, id, hold_id);
          return captureHold(id, hold_id, body.credits ?? null, details);
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
    tag,
    status: 200,
    permission: 'wallet:write',
    params: holdParameters,
    response: holdSchema,
    example: { params: { id: newRecord('hold', 'wallet_id') } },
    handle: async (context, { params: { id, hold_id } }) => {
      let open: HoldResource | null = null;
      const { events } = await context.execute(wallet, id, {
        prepare: async () => {
          open = await openHoldOf(context, id, hold_id);
          return voidHold(id, hold_id);
        },
      });
      // A repetition is answered without preparation; its hold ended long ago.
      return voidedBy(events, id, open ?? (await endedHold(context, id, hold_id)));
    },
  }),
} satisfies Routes;
