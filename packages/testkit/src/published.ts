import type { PublicEvent, PublicEvents, RequestContext } from '@counterfoil/engine/define';
import type { Aggregate, EventCatalogue } from '@counterfoil/kernel';

/** Everything that a publisher says about the history of a record, in order. */
export async function published<Catalogue extends EventCatalogue, State>(
  context: RequestContext,
  { publish }: PublicEvents,
  aggregate: Aggregate<string, Catalogue, State>,
  id: string,
): Promise<readonly PublicEvent[]> {
  const publications: PublicEvent[] = [];
  let before = aggregate.initial;
  for await (const event of context.history(aggregate, id)) {
    const after = aggregate.evolve(before, event);
    publications.push(...publish({ event, before, after } as Parameters<typeof publish>[0]));
    before = after;
  }
  return publications;
}
