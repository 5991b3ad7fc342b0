import { type ReactionContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  type CustomerId,
  type DecimalText,
  decimal,
  divide,
  existing,
  Problem,
  textOf,
  type WalletId,
} from '@counterfoil/kernel';
import { customer } from '../../customers/index.ts';
import { createWallet, loadCredits } from '../decisions.ts';
import type { CreatedData } from '../events.ts';
import type { Load } from '../ledger/entries.ts';
import { walletTable } from '../projection.ts';
import { wallet } from '../wallet.ts';

/** A record whose customer gets credits, such as a subscription or a payment. */
export interface CreditGiver {
  readonly id: string;
  readonly customerId: CustomerId;
  readonly currency: Currency;
  /** The wallets that it has chosen before, in their order. */
  readonly chosen: readonly WalletId[];
  /** Remembers a wallet in the stream of the record, before anything is loaded into it. Returns the record with all chosen by then. */
  readonly choose: (
    walletId: WalletId,
  ) => Promise<{ readonly state: { readonly wallets: readonly WalletId[] } | null }>;
}

/** Credits that a customer is given. */
export interface GivenCredits extends Omit<Load, 'quantity' | 'automatic'> {
  /** Money, which is worth as many credits as the wallet says, or credits. */
  readonly worth:
    | { readonly kind: 'money'; readonly amount: DecimalText }
    | { readonly kind: 'credits'; readonly credits: DecimalText };
  /** Of a wallet that has to be made for them; null: one credit is one unit of the currency. */
  readonly conversion_rate: DecimalText | null;
  readonly topup_conversion_rate: DecimalText | null;
}

/** The part of given credits that says nothing about a wallet that has to be made: money is worth what it is. */
export const atItsWorth = { conversion_rate: null, topup_conversion_rate: null } as const;

/**
 * Loads credits into a PRE_PAID wallet of the customer that is not closed, once: repeating it changes nothing. The
 * wallets that the giver has chosen before are tried in their order, so that a repetition comes to the wallet that has
 * them; a refusal of a closed one is remembered there. Only when none takes them another one is chosen. For money one is
 * made where there is none, also of a customer who is archived by now: it is owed, and lies there for whoever pays it out (ADR 53). An
 * archived customer without a wallet gets no credits that are a gift: null. Credits that have expired by now are not loaded.
 */
export async function giveCredits(
  context: ReactionContext,
  giver: CreditGiver,
  given: GivenCredits,
): Promise<WalletId | null> {
  const own = context.newId('wallet');
  let made: Promise<unknown> | null = null;
  const makeOwn = async () => {
    made ??= makeWallet(giving);
    await made;
  };
  const giving: Giving = { context, given, giver, own, makeOwn };
  for (const walletId of giver.chosen) {
    if (await isLoaded(giving, walletId)) return walletId;
  }
  const chosen = await usableWallet(giving);
  if (chosen === null) return null;
  const { state } = await giver.choose(chosen);
  // Other credits of the giver may have chosen one at the same time: a repetition tries that first, and so does this.
  const added = existing(state, 'giver').wallets.filter((each) => !giver.chosen.includes(each));
  for (const walletId of added) {
    if (await isLoaded(giving, walletId)) return walletId;
  }
  throw new Error(`the wallet ${chosen} was closed while ${giver.id} chose it`);
}

interface Giving {
  readonly context: ReactionContext;
  readonly given: GivenCredits;
  readonly giver: CreditGiver;
  /** The id of the wallet that is made for these credits where there is none for them. */
  readonly own: WalletId;
  /** Makes that wallet, once in a run: another run repeats what the first has done. */
  readonly makeOwn: () => Promise<void>;
}

/** Loads the credits; false where the wallet is closed. */
async function isLoaded(giving: Giving, walletId: WalletId): Promise<boolean> {
  const { context, given, own, makeOwn } = giving;
  // Commands are numbered for each record: the load of the wallet that is made is the second there, in every run.
  if (walletId === own) await makeOwn();
  try {
    await context.execute(wallet, walletId, {
      prepare: async () => loadCredits(walletId, [await loadOf(context, walletId, given)]),
    });
    return true;
  } catch (error) {
    const reason = error instanceof Problem ? error.details?.reason : null;
    if (reason === 'wallet_closed') return false;
    // They have lapsed since they were given: nobody can use them any more.
    if (reason === 'credits_expired') return true;
    throw error;
  }
}

const creditPlaces = 9;

async function loadOf(
  context: ReactionContext,
  walletId: WalletId,
  { worth, conversion_rate: _rate, topup_conversion_rate: _topup, ...details }: GivenCredits,
): Promise<Load> {
  if (worth.kind === 'credits') return { ...details, quantity: { credits: worth.credits } };
  // What is given back keeps its worth, whatever credits are sold for.
  const { conversion_rate } = existing(await context.load(wallet, walletId), 'wallet');
  const credits = divide(decimal(worth.amount), decimal(conversion_rate), creditPlaces);
  return { ...details, quantity: { credits: textOf(credits) } };
}

/** The wallet that a customer has for credits of a currency: the first in the order of use, or a new one. */
async function usableWallet(giving: Giving): Promise<WalletId | null> {
  const { given, own, makeOwn, giver } = giving;
  const items = await walletsFor(giving);
  const open = items.filter(
    ({ id, conversion_rate }) =>
      !giver.chosen.includes(id as WalletId) &&
      (given.conversion_rate === null || given.conversion_rate === conversion_rate),
  );
  const first = open.sort(
    (left, right) =>
      (left.priority ?? Number.MAX_SAFE_INTEGER) - (right.priority ?? Number.MAX_SAFE_INTEGER) ||
      (left.created_at < right.created_at ? -1 : 1),
  )[0];
  if (first) return first.id as WalletId;
  try {
    await makeOwn();
    return own;
  } catch (error) {
    const isGift = given.worth.kind === 'credits';
    if (isGift && error instanceof Problem && error.details?.reason === 'archived') return null;
    throw error;
  }
}

/** The wallets of the customer in the currency that credits can be loaded into. */
async function walletsFor({ context, giver }: Giving) {
  const page = { limit: 1000, offset: 0 };
  const { items } = await context.read.list(walletTable, page, [
    ...where('customer_id', 'eq', giver.customerId),
    ...where('currency', 'eq', giver.currency),
    ...where('wallet_type', 'eq', 'PRE_PAID'),
    ...where('wallet_status', 'in', ['active', 'frozen']),
  ]);
  return items;
}

async function makeWallet(giving: Giving): Promise<void> {
  const { context, given, own, giver } = giving;
  await context.execute(wallet, own, {
    prepare: async () => {
      const isBeside = (await walletsFor(giving)).length > 0;
      const made = newWallet(own, giver, given, isBeside);
      // Archived a moment later it is refused, and tried again.
      const isOwed = given.worth.kind === 'money' && (await isArchived(giving));
      return createWallet(isOwed ? { ...made, is_owed: true } : made, null);
    },
  });
}

const isArchived = async ({ context, giver }: Giving): Promise<boolean> =>
  (await context.load(customer, giver.customerId))?.status === 'archived';

const one = '1' as DecimalText;

const newWallet = (
  id: WalletId,
  { customerId: customer_id, currency }: CreditGiver,
  { conversion_rate, topup_conversion_rate }: GivenCredits,
  allow_multiple: boolean,
): CreatedData => ({
  id,
  customer_id,
  currency,
  conversion_rate: conversion_rate ?? one,
  topup_conversion_rate: topup_conversion_rate ?? conversion_rate ?? one,
  wallet_type: 'PRE_PAID',
  name: `Prepaid Wallet - ${currency.toUpperCase()}`,
  description: null,
  metadata: {},
  config: { allowed_price_types: ['USAGE'] },
  alert_settings: null,
  auto_topup: null,
  allow_multiple,
  priority: null,
});
