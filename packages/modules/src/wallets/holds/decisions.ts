import {
  type DecimalText,
  decimal,
  type HoldId,
  type Instant,
  invalidOperation,
  type Metadata,
  refusal,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { assertFunds, open, spendable, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { captureEvent, type EntryDetails, releaseEvent } from '../ledger/entries.ts';
import { drawFrom } from '../ledger/lots.ts';
import { concluded, taking } from '../topups/automatic.ts';
import { debtOf, type Wallet } from '../wallet.ts';
import { capturedCredits, type Hold, lowered, raised } from './holds.ts';

/** Open holds that one wallet may have: each is part of its state. */
const holdsMaximum = 1_000;

export interface NewHold {
  readonly holdId: HoldId;
  readonly credits: DecimalText;
  readonly expiresAt: Instant | null;
  readonly description: string | null;
  readonly metadata: Metadata;
}

/** Sets credits aside: they leave their lots in draw-down order and stay in the balance. */
export const holdCredits =
  (id: string, hold: NewHold): WalletDecision =>
  (state, at) => {
    const wallet = spendable(state, id);
    return taking(wallet, at, [
      (current) => {
        if (current.holds.length >= holdsMaximum) {
          throw refusal(
            `Wallet ${id} has ${holdsMaximum} open holds. Capture or void some first.`,
            {
              reason: 'limit_reached',
              limit: holdsMaximum,
            },
          );
        }
        assertFunds(current, hold.credits);
        return [
          {
            type: 'CreditsHeld',
            data: {
              hold_id: hold.holdId,
              customer_id: current.customer_id,
              credits: hold.credits,
              expires_at: hold.expiresAt,
              description: hold.description,
              metadata: hold.metadata,
              drawn: [...drawFrom(current.lots, hold.credits)],
            },
          },
        ];
      },
    ]);
  };

/**
 * Turns a hold, or a part of it, into a debit. The rest goes back, unless this is not the last capture. A hold
 * of which nothing is left has ended.
 */
export const captureHold =
  (
    id: string,
    holdId: string,
    credits: DecimalText | null,
    details: EntryDetails,
    isLast = true,
  ): WalletDecision =>
  (state, at) => {
    const wallet = spendable(state, id);
    return chain(wallet, [
      (current) => dueEvents(current, at),
      (current) => {
        const hold = openHold(current, holdId);
        if (credits !== null && decimal(credits).cmp(decimal(hold.credits)) > 0) {
          throw refusal(`The hold has ${hold.credits} credits, ${credits} are to be captured.`, {
            reason: 'hold_exceeded',
            held: hold.credits,
            requested: credits,
          });
        }
        const captured = capturedCredits(hold, credits);
        const isFinal = isLast || captured === hold.credits;
        return [captureEvent(current, hold, { ...details, credits: captured }, isFinal, at)];
      },
      // The returned credits may have expired while they were held.
      (current) => dueEvents(current, at, at),
      ...concluded(at),
    ]);
  };

/** A change of a hold: null leaves a figure as it is. */
export interface HoldChange {
  readonly credits: DecimalText | null;
  readonly expiresAt: Instant | null;
}

/** Sets what a hold sets aside and until when, up or down (D75). No event when nothing changes. */
export const changeHold =
  (id: string, holdId: string, { credits: asked, expiresAt }: HoldChange): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'have its holds changed');
    const change = (current: Wallet): readonly WalletEvent[] => {
      const hold = openHold(current, holdId);
      const credits = asked ?? hold.credits;
      const expires_at = expiresAt ?? hold.expires_at;
      if (credits === hold.credits && expires_at === hold.expires_at) return [];
      // The request was checked when it arrived; its instant may have passed while it waited.
      if (expires_at !== null && expires_at <= at) {
        throw refusal(`Hold ${holdId} would have ended at ${expires_at}.`, {
          reason: 'hold_ended',
        });
      }
      const more = decimal(credits).minus(decimal(hold.credits));
      const isRaised = more.cmp(zero) > 0;
      if (isRaised) assertFunds(spendable(current, id), textOf(more));
      const parts = isRaised
        ? raised(current.lots, hold, credits)
        : lowered(current.lots, hold, credits, debtOf(current));
      return [{ type: 'HoldChanged', data: { hold_id: hold.id, credits, expires_at, ...parts } }];
    };
    // The returned credits may have expired while they were held.
    return taking(wallet, at, [change, (current) => dueEvents(current, at, at)]);
  };

/** Gives a hold up. It ends the hold. */
export const voidHold =
  (id: string, holdId: string): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'have its holds changed');
    return chain(wallet, [
      (current) => dueEvents(current, at),
      (current) => [releaseEvent(current, openHold(current, holdId), 'voided', at)],
      // The returned credits may have expired while they were held.
      (current) => dueEvents(current, at, at),
      ...concluded(at),
    ]);
  };

/** A hold of a caller that has not ended. Throws 400: a hold ends exactly once. */
function openHold(wallet: Wallet, holdId: string): Hold {
  const hold = wallet.holds.find(({ id }) => id === holdId);
  if (hold?.debit_id !== undefined) {
    throw invalidOperation(`Hold ${holdId} belongs to ${hold.debit_id}, which ends it.`, {
      reason: 'hold_of_debit',
      debit_id: hold.debit_id,
    });
  }
  if (hold?.invoice_id !== undefined) {
    throw invalidOperation(`Hold ${holdId} belongs to ${hold.invoice_id}, which ends it.`, {
      reason: 'hold_of_invoice',
      invoice_id: hold.invoice_id,
    });
  }
  if (hold) return hold;
  throw refusal(`Hold ${holdId} is not open: it was captured or voided, or has expired.`, {
    reason: 'hold_ended',
  });
}
