import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant, Stamped } from '@counterfoil/kernel';
import { type Subscription, subscription, takeDue } from '../../subscriptions/index.ts';

export type SubscriptionEvent = Parameters<typeof subscription.evolve>[1];

/** Times that a subscription is asked for its steps at most: each time it takes many. */
const takingsMaximum = 100;

/** The events that a subscription records by itself up to an instant that is to come, if nothing else happens. */
export function comingEvents(before: Subscription, at: Instant): readonly SubscriptionEvent[] {
  const { tenant_id, environment_id } = before;
  const stamp = {
    tenant_id,
    environment_id,
    occurred_at: at,
    actor: { user_id: null, key_id: null },
  } as SubscriptionEvent['stamp'];
  const events: SubscriptionEvent[] = [];
  let state: Subscription | null = before;
  for (let taken = 0; taken < takingsMaximum; taken += 1) {
    const next: readonly Stamped<ReturnType<ReturnType<typeof takeDue>>[number]>[] = takeDue(
      before.id,
    )(state, at).map((event) => ({ ...event, stamp }));
    if (next.length === 0) break;
    events.push(...next);
    state = next.reduce<Subscription | null>(subscription.evolve, state);
  }
  return events;
}

/** The events of subscriptions, by their id. */
export type EventsById = ReadonlyMap<string, readonly SubscriptionEvent[]>;

/** The subscription after its events; null after none. */
export const stateAfter = (events: readonly SubscriptionEvent[]): Subscription | null =>
  events.reduce<Subscription | null>(subscription.evolve, subscription.initial);

/**
 * Questions in a world in which some subscriptions have recorded what is to come: whoever computes an invoice there finds the
 * settlements that there will be.
 *
 * @param past what subscriptions have recorded by now, where it was read before: all questions are then about that one moment
 */
export function afterwards(
  context: AskingContext,
  coming: EventsById,
  past: EventsById = new Map(),
): AskingContext {
  const eventsIn = (events: EventsById, name: string, id: string) =>
    name === subscription.name ? events.get(id) : undefined;
  return {
    now: context.now,
    principal: context.principal,
    get recalled() {
      return context.recalled;
    },
    get facts() {
      return context.facts;
    },
    get read() {
      return context.read;
    },
    holderOf: (aggregate, name, value) => context.holderOf(aggregate, name, value),
    factsByNow: () => context.factsByNow(),
    beside: () => context.beside(),
    part: (wanted) => context.part(wanted),
    load: async (aggregate, id) => {
      const known = eventsIn(past, aggregate.name, id);
      const loaded: unknown = known ? stateAfter(known) : await context.load(aggregate, id);
      let state = loaded as ReturnType<typeof aggregate.evolve>;
      for (const event of eventsIn(coming, aggregate.name, id) ?? []) {
        state = aggregate.evolve(state, event as never);
      }
      return state;
    },
    async *history(aggregate, id, range) {
      const known = eventsIn(past, aggregate.name, id);
      if (known) yield* known as readonly never[];
      else yield* context.history(aggregate, id, range);
      // Nobody asks where in the log they stand: they are nowhere yet.
      for (const event of eventsIn(coming, aggregate.name, id) ?? []) yield event as never;
    },
  };
}
