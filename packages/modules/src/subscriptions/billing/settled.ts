import type { AskingContext } from '@counterfoil/engine/define';
import { type Period, type Stamped, shiftedBy } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import type { LineData } from '../lines/line.ts';
import type { Settlement } from '../settlement/index.ts';
import { type Subscription, type SubscriptionState, subscription } from '../subscription.ts';
import { type BilledUsage, billedIn, linesBegunBy } from '../usage/bills.ts';

/** A settlement with everything that an invoice needs to know of it. */
export interface Settled {
  readonly settlement: Settlement;
  /** The subscription right before it; with the period that it closes still running. */
  readonly state: Subscription;
  /** The period that was closed at its instant; null where none was. */
  readonly closed: Period | null;
  /** The usage that was billed before, by whatever settlement. */
  readonly billed: readonly BilledUsage[];
  /** All lines that there were by then, as they were sold, by id. */
  readonly lines: ReadonlyMap<string, LineData>;
}

/** The settlements of a subscription that are wanted, and the subscription as its stream has it. */
export interface SettledSubscription {
  readonly subscription: SubscriptionState;
  readonly settled: readonly Settled[];
  /** All lines that it ever had, as they were sold, by id. */
  readonly lines: ReadonlyMap<string, LineData>;
  /** The subscriptions that were ever to be invoiced with it. */
  readonly members: readonly string[];
}

/**
 * Reads the settlements of a subscription from its stream. The stream decides: whoever reads it again is told the same.
 *
 * @param isWanted chooses settlements; the others are read over
 */
export async function settledOf(
  context: Pick<AskingContext, 'history'>,
  id: string,
  isWanted: (settlement: Settlement) => boolean,
): Promise<SettledSubscription> {
  const reading = new Reading(isWanted);
  for await (const event of context.history(subscription, id)) reading.take(event);
  const { state, settled, lines, members } = reading;
  return { subscription: state, settled, lines, members: [...members] };
}

/** One pass over the events of a subscription. */
class Reading {
  state: SubscriptionState = subscription.initial;
  readonly settled: Settled[] = [];
  readonly #isWanted: (settlement: Settlement) => boolean;
  readonly #billed: BilledUsage[] = [];
  readonly lines = new Map<string, LineData>();
  readonly members = new Set<string>();
  /** The last period that was closed, with the subscription right before that. */
  #closing: { readonly before: Subscription; readonly period: Period } | null = null;

  constructor(isWanted: (settlement: Settlement) => boolean) {
    this.#isWanted = isWanted;
  }

  take(event: Stamped<SubscriptionEvent>): void {
    for (const line of linesBegunBy(event)) this.lines.set(line.id, line);
    if (event.type === 'MemberChanged') this.members.add(event.data.subscription_id);
    if (event.type === 'PeriodClosed' && this.state !== null) {
      this.#closing = { before: this.state, period: event.data };
    }
    if (event.type === 'SettlementRecorded') this.#note(event.data);
    this.state = subscription.evolve(this.state, event);
  }

  #note(settlement: Settlement): void {
    const { state } = this;
    if (state !== null && this.#isWanted(settlement)) {
      const closing = this.#closing?.period.end === settlement.at ? this.#closing : null;
      const bills = settlement.lines.some(({ kind }) => kind === 'usage' || kind === 'commitment');
      this.settled.push({
        settlement,
        state: bills && closing ? closing.before : state,
        closed: closing?.period ?? null,
        billed: [...this.#billed],
        lines: new Map(this.lines),
      });
    }
    // What was billed by amount is billed again with its period, less what it was.
    if (settlement.reason === 'threshold_reached') return;
    this.#billed.push(...billedIn(settlement.lines, this.lines));
  }
}

/** The instant whose entitlements and allowances count for what a settlement bills: the last before it. */
export const ratedAt = ({ settlement }: Pick<Settled, 'settlement'>) =>
  shiftedBy(settlement.at, -1);
