import { type Instant, invalidOperation } from '@counterfoil/kernel';
import type { Offer } from './offer.ts';
import { willBeInForce } from './price/price.ts';

/** Records that one offer holds at most, so that it can be decided on as a whole. */
export const offerLimits = {
  /** That are in force or will be. */
  prices: 1000,
  /** With those that have ended. */
  pricesEver: 5000,
  entitlements: 1000,
  creditGrants: 100,
  /** With those that have ended. */
  creditGrantsEver: 1000,
} as const;

function refuseMoreThan(limit: number, count: number, what: string): void {
  if (count <= limit) return;
  throw invalidOperation(`An offer has at most ${limit} ${what}: this would make ${count}.`, {
    reason: 'limit_reached',
    limit,
  });
}

/**
 * Throws 400 when an offer would have too many prices: so many are `added`, and so many of those that
 * are in force or will be are `replaced` by them.
 */
export function refuseTooManyPrices(
  { prices }: Offer,
  { added, replaced }: { readonly added: number; readonly replaced: number },
  at: Instant,
): void {
  const current = prices.filter((price) => willBeInForce(price, at)).length;
  refuseMoreThan(offerLimits.prices, current + added - replaced, 'prices in force or to come');
  refuseMoreThan(offerLimits.pricesEver, prices.length + added, 'prices, ended ones included');
}

/** Throws 400 when an offer would have too many entitlements. */
export const refuseTooManyEntitlements = ({ entitlements }: Offer, added: number): void =>
  refuseMoreThan(offerLimits.entitlements, entitlements.length + added, 'entitlements');

/** Throws 400 when an offer would have too many credit grants. */
export function refuseTooManyCreditGrants({ credit_grants }: Offer, added: number): void {
  const current = credit_grants.filter(({ status }) => status === 'published').length;
  refuseMoreThan(offerLimits.creditGrants, current + added, 'credit grants');
  const ever = credit_grants.length + added;
  refuseMoreThan(offerLimits.creditGrantsEver, ever, 'credit grants, ended ones included');
}
