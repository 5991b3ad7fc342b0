import { type Books, held, total } from './books.ts';
import { amountPlaces, shownCredits, shownUnits } from './units.ts';

/** The visible part of a wallet. */
export interface WalletView {
  readonly wallet_status: string;
  readonly credit_balance: string;
  readonly balance: string;
  readonly credits_available_breakdown: { readonly free: string; readonly purchased: string };
  readonly credits_held: string;
  readonly alert_state: string;
  readonly auto_topup_status: Readonly<Record<string, unknown>> | null;
}

/** Returns what books show, at a rate of credits in the smallest parts of a rate. */
export function viewOf(books: Books, rate: bigint): WalletView {
  const part = (isPurchased: boolean) =>
    shownCredits(total(books.lots.filter((lot) => lot.isPurchased === isPurchased)));
  return {
    wallet_status: books.status,
    credit_balance: shownCredits(books.balance),
    balance: shownUnits(books.balance * rate, amountPlaces),
    credits_available_breakdown: { free: part(false), purchased: part(true) },
    credits_held: shownCredits(held(books)),
    alert_state: books.alert,
    auto_topup_status: automaticFaces(books),
  };
}

/** Returns what automatic top-up has done so far; null for nothing. */
function automaticFaces({ day, count, stoppedOn, orders }: Books): WalletView['auto_topup_status'] {
  if (day === null) return null;
  const waiting = orders.find(({ automatic }) => automatic);
  return {
    day,
    topups: count,
    ...(stoppedOn === null ? {} : { stopped_on: stoppedOn }),
    ...(waiting ? { pending_transaction_id: waiting.id } : {}),
  };
}
