import {
  type PublicEvents,
  publicationsOf,
  type RequestContext,
  recordAt,
} from '@counterfoil/engine/define';

/** The event that a message is about, and which of its messages it is. */
export interface MessageOrigin {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly resourceId: string;
}

/** The name of a stream: `<aggregate>-<environment or tenant>.<id>`. */
const streamShape = /^([a-z0-9_]+)-[^.]+\.(.+)$/;

/**
 * The whole body of a message that was too long to be delivered. It folds the stream of the record
 * up to the event and those of the records inside, as the relay did, and publishes that event again. Null when nobody publishes
 * such a message any more.
 */
export async function wholeBodyOf(
  publicEvents: readonly PublicEvents[],
  context: RequestContext,
  origin: MessageOrigin,
): Promise<unknown> {
  const [, category, id = ''] = streamShape.exec(origin.stream) ?? [];
  const publisher = publicEvents.find(({ aggregate }) => aggregate.name === category);
  if (!publisher) return null;
  const { aggregate } = publisher;
  let before = aggregate.initial;
  for await (const event of context.history(aggregate, id, { maximum: origin.revision + 1 })) {
    const after = aggregate.evolve(before, event);
    if (event.revision === origin.revision) {
      const change = { event, before, after };
      const publications = await publicationsOf(publisher, change, (embedded, embeddedId) =>
        recordAt(context, embedded, embeddedId, BigInt(event.position)),
      );
      const publication = publications.find(
        ({ type, resourceId }) => type === origin.type && resourceId === origin.resourceId,
      );
      return publication ? { event_type: publication.type, ...publication.body } : null;
    }
    before = after;
  }
  return null;
}
