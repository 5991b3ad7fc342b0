import type { Outcome, Reaction, RequestContext } from '@counterfoil/engine/define';
import type { Aggregate, EventCatalogue, EventOf } from '@counterfoil/kernel';

/** Steps, one after the other, that a request carries out at once; what is left follows by itself. */
const stepsMaximum = 8;

/**
 * Carries out at once what reactions do because of the events of a record from a revision on, and because of the events
 * that this leads to there. What fails is left to the reactions.
 */
export async function carryOutFrom<Catalogue extends EventCatalogue, State>(
  context: Pick<RequestContext, 'history' | 'carryOut'>,
  aggregate: Aggregate<string, Catalogue, State>,
  reactions: readonly Reaction[],
  id: string,
  from: number,
  onEvent: (event: EventOf<Catalogue>) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  let next = from;
  for (let step = 0; step < stepsMaximum; step += 1) {
    const start = next;
    for await (const event of context.history(aggregate, id, { from: start })) {
      const { revision } = event;
      const outcome = { events: [event], revision, state: null, replayed: false };
      for (const each of reactions) await context.carryOut(each, id, outcome);
      await onEvent(event);
      next = revision + 1;
    }
    if (next === start) return;
  }
}

/** The revision of the first event of an outcome. */
export const firstOf = ({
  revision,
  events,
}: Pick<Outcome<unknown, unknown>, 'revision' | 'events'>): number => revision - events.length + 1;

/**
 * The state of a record after a command and what followed from it: of a command that is repeated as it was then,
 * whatever has happened since. `following` are the types of events that follow.
 */
export async function stateFollowing<Catalogue extends EventCatalogue, State>(
  context: Pick<RequestContext, 'history' | 'load'>,
  aggregate: Aggregate<string, Catalogue, State>,
  id: string,
  outcome: Pick<Outcome<State, EventOf<Catalogue>>, 'revision' | 'replayed'>,
  following: readonly (keyof Catalogue & string)[],
): Promise<State> {
  if (!outcome.replayed) return context.load(aggregate, id);
  let state = aggregate.initial;
  for await (const event of context.history(aggregate, id)) {
    if (event.revision > outcome.revision && !following.includes(event.type)) break;
    state = aggregate.evolve(state, event);
  }
  return state;
}
