import type { AskingContext, HistoryEvent, WorkContext } from '@counterfoil/engine/define';
import type { Instant, Stamped } from '@counterfoil/kernel';
import { type Subscription, subscription, takeDue } from '../../subscriptions/index.ts';

type SubscriptionEvent = Parameters<typeof subscription.evolve>[1];

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

/**
 * A context in which some subscriptions have recorded what is to come: whoever computes an invoice in it finds the settlements
 * that there will be. It writes nothing.
 *
 * @param coming events by subscription
 */
export function afterwards(
  context: WorkContext,
  coming: ReadonlyMap<string, readonly SubscriptionEvent[]>,
): WorkContext {
  const history = async function* (
    aggregate: Parameters<AskingContext['history']>[0],
    id: string,
    range: Parameters<AskingContext['history']>[2],
  ) {
    yield* context.history(aggregate, id, range);
    if (aggregate.name !== subscription.name) return;
    // Nobody asks where in the log they stand: they are nowhere yet.
    for (const event of coming.get(id) ?? []) yield event as unknown as HistoryEvent<never>;
  };
  const load = async (aggregate: Parameters<AskingContext['load']>[0], id: string) => {
    const state = await context.load(aggregate, id);
    if (aggregate.name !== subscription.name) return state;
    return (coming.get(id) ?? []).reduce(aggregate.evolve, state);
  };
  return Object.create(context, {
    history: { value: history },
    load: { value: load },
  }) as WorkContext;
}
