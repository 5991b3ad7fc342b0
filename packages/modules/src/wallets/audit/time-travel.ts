import {
  type DecimalText,
  decimal,
  type Instant,
  type Stamped,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';
import { type Draw, inDrawOrder, type Lot, lotOfLoad } from '../ledger/lots.ts';
import { effectiveAt } from '../ledger/times.ts';
import { ownLot } from '../reversals/reversals.ts';

/** The content of a wallet at an instant. */
export interface BalanceAt {
  readonly credit_balance: DecimalText;
  readonly credits_held: DecimalText;
  /** Unspent credits in draw-down order. */
  readonly lots: readonly Lot[];
  /** The number of events that count. */
  readonly events: number;
}

/**
 * Adds up, event by event, the content of a wallet at `asOf` as far as the log knew it at `knownAt`.
 * It does not use the balances that the events carry, because leaving out events in the middle would
 * make them wrong.
 */
export function balanceAdder(asOf: Instant, knownAt: Instant) {
  let balance = zero;
  let events = 0;
  const lots = new Map<string, Lot>();
  const holds = new Map<string, Held>();
  /** Credits of loads that paid a debt when they were recorded, by load. */
  const paidDebt = new Map<string, DecimalText>();

  const change = (id: string, credits: DecimalText, sign: 1 | -1): void => {
    const lot = lots.get(id);
    if (!lot) return;
    const step = decimal(credits);
    const before = decimal(lot.remaining);
    lots.set(id, {
      ...lot,
      remaining: textOf(sign === 1 ? before.plus(step) : before.minus(step)),
    });
  };

  const add = (event: Stamped<WalletEvent>): void => {
    switch (event.type) {
      case 'CreditsLoaded': {
        const { transaction_id, credits, credits_available } = event.data;
        balance = balance.plus(decimal(credits));
        if (credits !== credits_available) {
          paidDebt.set(transaction_id, textOf(decimal(credits).minus(decimal(credits_available))));
        }
        lots.set(transaction_id, lotOfLoad(event.data));
        break;
      }
      case 'DebitReversed':
        balance = balance.plus(decimal(event.data.credits));
        giveBack(lots, event.data);
        break;
      case 'CreditsDebited':
      case 'CreditsExpired':
        balance = balance.minus(decimal(event.data.credits));
        for (const draw of event.data.drawn) change(draw.transaction_id, draw.credits, -1);
        break;
      case 'CreditsHeld':
        holds.set(event.data.hold_id, event.data);
        for (const draw of event.data.drawn) change(draw.transaction_id, draw.credits, -1);
        break;
      case 'HoldCaptured':
        balance = balance.minus(decimal(event.data.credits));
        for (const draw of beyondHold(holds.get(event.data.hold_id), event.data.drawn)) {
          change(draw.transaction_id, draw.credits, -1);
        }
        if (event.data.is_final) holds.delete(event.data.hold_id);
        else holds.set(event.data.hold_id, lessCaptured(holds.get(event.data.hold_id), event.data));
        for (const draw of event.data.returned) change(draw.transaction_id, draw.credits, 1);
        break;
      case 'HoldChanged': {
        const { hold_id, credits, parts } = event.data;
        holds.set(hold_id, { credits, drawn: parts });
        for (const draw of event.data.drawn) change(draw.transaction_id, draw.credits, -1);
        for (const draw of event.data.returned) change(draw.transaction_id, draw.credits, 1);
        break;
      }
      case 'HoldReleased':
        holds.delete(event.data.hold_id);
        for (const draw of event.data.returned) change(draw.transaction_id, draw.credits, 1);
        break;
      default:
        break;
    }
  };

  /**
   * The lots as they were. A load that is dated back pays a debt that may not have been there yet at
   * `asOf`: then its credits were still in its lot.
   */
  const lotsThen = (): readonly Lot[] => {
    const parts = [...holds.values()].flatMap(({ drawn }) => drawn.map(({ credits }) => credits));
    const inLots = [...lots.values()].map(({ remaining }) => remaining);
    let spare = [...parts, ...inLots].reduce((left, each) => left.minus(decimal(each)), balance);
    for (const [id, credits] of paidDebt) {
      if (spare.cmp(zero) <= 0) break;
      const back = spare.cmp(decimal(credits)) < 0 ? spare : decimal(credits);
      change(id, textOf(back), 1);
      spare = spare.minus(back);
    }
    return [...lots.values()]
      .filter(({ remaining }) => decimal(remaining).cmp(zero) > 0)
      .sort(inDrawOrder);
  };

  return {
    take(event: Stamped<WalletEvent>): void {
      if (event.stamp.occurred_at > knownAt || effectiveAt(event) > asOf) return;
      events += 1;
      add(event);
    },
    result: (): BalanceAt => ({
      credit_balance: textOf(balance),
      credits_held: textOf(
        [...holds.values()].reduce((sum, { credits }) => sum.plus(decimal(credits)), zero),
      ),
      lots: lotsThen(),
      events,
    }),
  };
}

/** Puts the credits of a reversal into their lots, and into its own. */
function giveBack(
  lots: Map<string, Lot>,
  reversal: Extract<WalletEvent, { type: 'DebitReversed' }>['data'],
): void {
  const { effective_at } = reversal;
  for (const { credits, remaining: _then, ...lot } of reversal.returned) {
    const before = decimal(lots.get(lot.transaction_id)?.remaining ?? '0');
    const remaining = textOf(before.plus(decimal(credits)));
    lots.set(lot.transaction_id, { ...lot, effective_at, remaining });
  }
  lots.set(reversal.transaction_id, ownLot(reversal));
}

/** The credits of a hold, and those that it has of each lot. */
interface Held {
  readonly credits: DecimalText;
  readonly drawn: readonly Pick<Draw, 'transaction_id' | 'credits'>[];
}

/** A hold after a capture that did not end it. */
function lessCaptured(
  hold: Held | undefined,
  capture: Extract<WalletEvent, { type: 'HoldCaptured' }>['data'],
): Held {
  const credits = decimal(hold?.credits ?? '0').minus(decimal(capture.credits));
  const drawn = (hold?.drawn ?? []).map((part) => {
    const taken = capture.drawn.find((draw) => draw.transaction_id === part.transaction_id);
    const own = smaller(decimal(part.credits), decimal(taken?.credits ?? '0'));
    return { ...part, credits: textOf(decimal(part.credits).minus(own)) };
  });
  return { credits: textOf(credits), drawn };
}

/** The draws of a capture from lots: the hold's own parts left theirs when it was made. */
const beyondHold = (hold: Held | undefined, drawn: readonly Draw[]): readonly Draw[] =>
  drawn.flatMap((draw) => {
    const part = hold?.drawn.find(({ transaction_id }) => transaction_id === draw.transaction_id);
    const beyond = decimal(draw.credits).minus(decimal(part?.credits ?? '0'));
    return beyond.cmp(zero) > 0 ? [{ ...draw, credits: textOf(beyond) }] : [];
  });
