import type { Reaction, RequestContext } from '@counterfoil/engine/define';

/** Hands all events of a record to a reaction, as the projector does, whatever requests have done at once. */
export async function reactTo(
  context: RequestContext,
  reaction: Reaction,
  id: string,
): Promise<void> {
  for await (const event of context.history(reaction.aggregate, id)) {
    const { revision } = event;
    const outcome = { events: [event], revision, state: null, replayed: false };
    await context.carryOut(reaction, id, outcome);
  }
}
