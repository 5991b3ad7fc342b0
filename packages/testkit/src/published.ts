import {
  type PublicEvent,
  type PublicEvents,
  publicationsOf,
  type RequestContext,
  recordAt,
} from '@counterfoil/engine/define';
import type { Aggregate, EventCatalogue } from '@counterfoil/kernel';

/** Everything that a publisher says about the history of a record, in order. */
export async function published<Catalogue extends EventCatalogue, State>(
  context: RequestContext,
  publisher: PublicEvents,
  aggregate: Aggregate<string, Catalogue, State>,
  id: string,
): Promise<readonly PublicEvent[]> {
  const publications: PublicEvent[] = [];
  let before = aggregate.initial;
  for await (const event of context.history(aggregate, id)) {
    const after = aggregate.evolve(before, event);
    const change = { event, before, after } as Parameters<PublicEvents['publish']>[0];
    const stateAt = (embedded: Parameters<typeof recordAt>[1], embeddedId: string) =>
      recordAt(context, embedded, embeddedId, BigInt(event.position));
    publications.push(...(await publicationsOf(publisher, change, stateAt)));
    before = after;
  }
  return publications;
}
