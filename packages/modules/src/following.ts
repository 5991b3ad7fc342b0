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
 * Tells what follows from an event of a record, as that is right after it: for each event that will come the types that it may have.
 */
export type Following<Event extends { readonly type: string }, State> = (
  event: Event,
  state: State,
) => readonly (readonly Event['type'][])[];

/**
 * The state of a record after a command and what followed from it: of a command that is repeated as it was then, whatever others have
 * done since (ADR 3).
 *
 * @param isOwn tells of an event of a type that follows whether it is the one that does
 */
export async function stateFollowing<Catalogue extends EventCatalogue, State>(
  context: Pick<RequestContext, 'history' | 'load'>,
  aggregate: Aggregate<string, Catalogue, State>,
  id: string,
  outcome: Pick<Outcome<State, EventOf<Catalogue>>, 'revision' | 'replayed' | 'events' | 'state'>,
  following: Following<EventOf<Catalogue>, State>,
  isOwn: (event: EventOf<Catalogue>) => boolean = () => true,
): Promise<State> {
  if (!outcome.replayed) return context.load(aggregate, id);
  let { state } = outcome;
  let awaited = outcome.events.flatMap((event) => following(event, state));
  for await (const event of context.history(aggregate, id, { from: outcome.revision + 1 })) {
    const expected = awaited.find((types) => types.some((type) => type === event.type));
    // Nothing that the command has led to: somebody else has done it.
    if (!expected || !isOwn(event)) break;
    state = aggregate.evolve(state, event);
    awaited = [...awaited.filter((types) => types !== expected), ...following(event, state)];
  }
  return state;
}
