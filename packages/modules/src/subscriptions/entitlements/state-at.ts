import type { RequestContext } from '@counterfoil/engine/define';
import { earlierOf, type Instant, invalidOperation, type Stamped } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import {
  foldAll,
  type Subscription,
  type SubscriptionState,
  subscription,
} from '../subscription.ts';
import { dueEvents, stepsMaximum } from '../time/due.ts';
import { isLive } from '../time/steps.ts';

/** Rounds of steps that one request looks ahead: two years of a subscription of days, hundreds of one of months. */
const roundsMaximum = 25;

/** The steps that one request may still look ahead, for all subscriptions together. */
export class LookAhead {
  #rounds = 0;

  /** Counts one round. Throws a Problem where an instant is too many steps away. */
  round(): void {
    this.#rounds += 1;
    if (this.#rounds <= roundsMaximum) return;
    const message = `as_of is more than ${roundsMaximum * stepsMaximum} steps of subscriptions away.`;
    throw invalidOperation(message, { reason: 'limit_reached', field: 'as_of' });
  }
}

/**
 * A subscription as it is at an instant that is not before its last event, with everything that happens by itself up to
 * there, as far as it is known now.
 */
export function ahead(state: Subscription, at: Instant, lookAhead: LookAhead): Subscription {
  let current = state;
  while (isLive(current)) {
    const events = dueEvents(current, at);
    if (events.length === 0) break;
    lookAhead.round();
    current = foldAll(current, events);
  }
  return current;
}

/**
 * A subscription as it was at an instant, by what is known of it now: everything counts from when it took effect, however
 * late it was recorded. Null where it did not exist.
 */
export async function stateAt(
  context: Pick<RequestContext, 'history'>,
  id: string,
  at: Instant,
  lookAhead: LookAhead,
): Promise<SubscriptionState> {
  let state: SubscriptionState = null;
  for await (const event of context.history(subscription, id)) {
    if (takesEffectAt(event) <= at) state = subscription.evolve(state, event);
  }
  return state && ahead(state, at, lookAhead);
}

/** The instant from which on an event holds: its own, and of one that has none that of its recording. */
function takesEffectAt(event: Stamped<SubscriptionEvent>): Instant {
  switch (event.type) {
    case 'SubscriptionCreated':
    case 'SubscriptionActivated':
      return event.data.start_date;
    case 'PeriodOpened':
      return event.data.start;
    case 'PeriodClosed':
      return event.data.end;
    case 'CreditsGranted':
      return event.data.period_start;
    case 'PauseStarted':
      return event.data.start;
    case 'PauseEnded':
      return event.data.end;
    case 'SubscriptionCancelled':
      return event.data.effective_at;
    case 'EntitlementAdded':
      return earlierOf(
        event.data.entitlement.start_date ?? event.stamp.occurred_at,
        event.stamp.occurred_at,
      );
    case 'AddonAttached':
      return event.data.addon.start_date;
    case 'AddonRemoved':
      return earlierOf(event.data.end_date, event.stamp.occurred_at);
    default:
      return 'at' in event.data ? event.data.at : event.stamp.occurred_at;
  }
}
