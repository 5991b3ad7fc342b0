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
 * wallet gets none any more, and so no credits: null.
 */
export async function giveCredits(
  context: ReactionContext,
  id: string,
  given: GivenCredits,
): Promise<WalletId | null> {
  const before = existing(await context.load(subscription, id), 'subscription');
  for (const walletId of before.wallets) {
    if (await isLoaded(context, walletId, given)) return walletId;
  }
  const chosen = await usableWallet(context, before, given);
  if (chosen === null) return null;
  await context.execute(subscription, id, chooseWallet(chosen));
  if (await isLoaded(context, chosen, given)) return chosen;
  throw new Error(`the wallet ${chosen} was closed while ${id} chose it`);
}

/** Loads the credits; false where the wallet is closed. */
async function isLoaded(
  context: ReactionContext,
  walletId: WalletId,
  given: GivenCredits,
): Promise<boolean> {
  try {
    await context.execute(wallet, walletId, {
      prepare: async () => loadCredits(walletId, [await loadOf(context, walletId, given)]),
    });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.details?.reason === 'wallet_closed') return false;
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
async function usableWallet(
  context: ReactionContext,
  { customer_id, currency, wallets }: Subscription,
  given: GivenCredits,
): Promise<WalletId | null> {
  const page = { limit: 1000, offset: 0 };
  const { items } = await context.read.list(walletTable, page, [
    ...where('customer_id', 'eq', customer_id),
    ...where('currency', 'eq', currency),
    ...where('wallet_type', 'eq', 'PRE_PAID'),
    ...where('wallet_status', 'in', ['active', 'frozen']),
  ]);
  const open = items.filter(
    ({ id, conversion_rate }) =>
      !wallets.includes(id as WalletId) &&
      (given.conversion_rate === null || given.conversion_rate === conversion_rate),
  );
  const first = open.sort(
    (left, right) =>
      (left.priority ?? Number.MAX_SAFE_INTEGER) - (right.priority ?? Number.MAX_SAFE_INTEGER) ||
      (left.created_at < right.created_at ? -1 : 1),
  )[0];
  if (first) return first.id as WalletId;
  const id = context.newId('wallet');
  const isBeside = items.length > 0;
  const made = createWallet(newWallet(id, customer_id, currency, given, isBeside), null);
  try {
    await context.execute(wallet, id, made);
    return id;
  } catch (error) {
    if (error instanceof Problem && error.details?.reason === 'archived') return null;
    throw error;
  }
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
