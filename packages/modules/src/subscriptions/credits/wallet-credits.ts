import { type ReactionContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  type CustomerId,
  type DecimalText,
  type Decision,
  decimal,
  divide,
  existing,
  Problem,
  textOf,
  type WalletId,
} from '@counterfoil/kernel';
import {
  createWallet,
  type Load,
  loadCredits,
  type NewWallet,
  wallet,
  walletTable,
} from '../../wallets/index.ts';
import type { SubscriptionEvent } from '../events.ts';
import { payerOf } from '../families/family.ts';
import { type Subscription, type SubscriptionState, subscription } from '../subscription.ts';

/** Credits that a subscription gives its customer. */
export interface GivenCredits extends Omit<Load, 'quantity' | 'reason' | 'automatic'> {
  /** Money, which is worth as many credits as the wallet says, or credits. */
  readonly worth:
    | { readonly kind: 'money'; readonly amount: DecimalText }
    | { readonly kind: 'credits'; readonly credits: DecimalText };
  /** Of a wallet that has to be made for them; null: one credit is one unit of the currency. */
  readonly conversion_rate: DecimalText | null;
  readonly topup_conversion_rate: DecimalText | null;
}

/**
 * Loads credits into a wallet of the customer, once: repeating it changes nothing. The wallets that the subscription has
 * chosen before are tried in their order, so that a repetition comes to the wallet that has them; a refusal of a
 * closed one is remembered there. Only when none takes them another one is chosen. An archived customer that has no
 * wallet gets none any more, and so no credits: null. Credits that have expired by now are not loaded.
 */
export async function giveCredits(
  context: ReactionContext,
  id: string,
  given: GivenCredits,
): Promise<WalletId | null> {
  const before = existing(await context.load(subscription, id), 'subscription');
  const own = context.newId('wallet');
  let made: Promise<unknown> | null = null;
  const makeOwn = async () => {
    made ??= makeWallet(giving);
    await made;
  };
  const giving: Giving = { context, given, subscription: before, own, makeOwn };
  for (const walletId of before.wallets) {
    if (await isLoaded(giving, walletId)) return walletId;
  }
  const chosen = await usableWallet(giving);
  if (chosen === null) return null;
  await context.execute(subscription, id, chooseWallet(chosen));
  if (await isLoaded(giving, chosen)) return chosen;
  throw new Error(`the wallet ${chosen} was closed while ${id} chose it`);
}

interface Giving {
  readonly context: ReactionContext;
  readonly given: GivenCredits;
  readonly subscription: Subscription;
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
  const reason = 'SUBSCRIPTION_CREDIT_GRANT';
  if (worth.kind === 'credits') {
    return { ...details, reason, quantity: { credits: worth.credits } };
  }
  // What is given back keeps its worth, whatever credits are sold for.
  const { conversion_rate } = existing(await context.load(wallet, walletId), 'wallet');
  const credits = divide(decimal(worth.amount), decimal(conversion_rate), creditPlaces);
  return { ...details, reason, quantity: { credits: textOf(credits) } };
}

/** The wallet that a customer has for credits of a currency: the first in the order of use, or a new one. */
async function usableWallet(giving: Giving): Promise<WalletId | null> {
  const { given, own, makeOwn, subscription } = giving;
  const items = await walletsFor(giving);
  const open = items.filter(
    ({ id, conversion_rate }) =>
      !subscription.wallets.includes(id as WalletId) &&
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
    if (error instanceof Problem && error.details?.reason === 'archived') return null;
    throw error;
  }
}

/** The wallets of who pays for the subscription in the currency that credits can be loaded into. */
async function walletsFor({ context, subscription }: Giving) {
  const page = { limit: 1000, offset: 0 };
  const { items } = await context.read.list(walletTable, page, [
    ...where('customer_id', 'eq', payerOf(subscription)),
    ...where('currency', 'eq', subscription.currency),
    ...where('wallet_type', 'eq', 'PRE_PAID'),
    ...where('wallet_status', 'in', ['active', 'frozen']),
  ]);
  return items;
}

async function makeWallet(giving: Giving): Promise<void> {
  const { context, given, own, subscription } = giving;
  const { currency } = subscription;
  const isBeside = (await walletsFor(giving)).length > 0;
  const made = newWallet(own, payerOf(subscription), currency, given, isBeside);
  await context.execute(wallet, own, createWallet(made, null));
}

const one = '1' as DecimalText;

const newWallet = (
  id: WalletId,
  customer_id: CustomerId,
  currency: Currency,
  { conversion_rate, topup_conversion_rate }: GivenCredits,
  allow_multiple: boolean,
): NewWallet => ({
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

/** Takes a wallet for the credits of a subscription. Chosen before, no event. */
const chooseWallet =
  (wallet_id: WalletId): Decision<SubscriptionState, SubscriptionEvent> =>
  (state) =>
    existing(state, 'subscription').wallets.includes(wallet_id)
      ? []
      : [{ type: 'WalletChosen', data: { wallet_id } }];
