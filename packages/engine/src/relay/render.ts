import type { AnyAggregate } from '@counterfoil/kernel';
import type { PublicEvent, PublicEvents } from '../define/public-event.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { categoryPrefix, parseStreamName } from '../log/stream-name.ts';
import type { EventStore, StoredEvent } from '../log/types.ts';
import { createFoldedStates, type SourcedEvent } from './folded-states.ts';
import { type OutgoingMessage, publicMessages } from './message.ts';

/** An event cannot be turned into public messages; the relay stops before it. */
export class PoisonEvent extends Error {
  constructor(event: StoredEvent, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${event.type} at ${event.stream}@${event.revision} cannot be published: ${reason}`, {
      cause,
    });
    this.name = 'PoisonEvent';
  }
}

export interface Rendered {
  /** The messages about the events, in order. */
  readonly messages: readonly OutgoingMessage[];
  /** The event that could not be rendered, with those after it; null when all could be. */
  readonly poison: PoisonEvent | null;
}

/** Turns events of the log into public messages. */
export interface Renderer {
  /** Prefixes of the streams whose events may lead to messages. */
  readonly prefixes: readonly string[];
  /**
   * The messages about events, which come in the order of the log. Rejects when the store cannot
   * be read; a defect in the way of one event is `poison` instead.
   */
  render(events: readonly StoredEvent[]): Promise<Rendered>;
}

interface Source {
  readonly aggregate: AnyAggregate;
  readonly publicEvents: PublicEvents[];
}

/**
 * Makes the renderer. What it gives follows from the log and the publicEvents alone, so that a
 * relay which starts over produces the same messages in the same order.
 */
export function createRenderer(store: EventStore, publicEvents: readonly PublicEvents[]): Renderer {
  const sources = new Map<string, Source>();
  for (const publisher of publicEvents) {
    const aggregate = publisher.aggregate as AnyAggregate;
    const source = sources.get(aggregate.name) ?? { aggregate, publicEvents: [] };
    source.publicEvents.push(publisher);
    sources.set(aggregate.name, source);
  }
  const states = createFoldedStates(store);

  const renderOne = (sourced: SourcedEvent, source: Source): readonly OutgoingMessage[] => {
    const { event, aggregate } = sourced;
    const before = states.before(sourced);
    if (!belongsTo(aggregate, event)) {
      states.keep(event, before);
      return [];
    }
    const stamped = stampedEvent(aggregate, event);
    const after: unknown = aggregate.evolve(before, stamped);
    const change = { event: stamped, before, after };
    const publications: PublicEvent[] = [];
    for (const publisher of source.publicEvents) publications.push(...publisher.publish(change));
    const messages = publicMessages(event, publications);
    states.keep(event, after);
    return messages;
  };
  return {
    prefixes: [...sources.keys()].map(categoryPrefix),
    render: async (events) => {
      const known = events.flatMap((event) => {
        const source = sources.get(parseStreamName(event.stream)?.category ?? '');
        return source ? [{ event, source, aggregate: source.aggregate }] : [];
      });
      await states.load(known);
      const messages: OutgoingMessage[] = [];
      for (const sourced of known) {
        try {
          messages.push(...renderOne(sourced, sourced.source));
        } catch (error) {
          return { messages, poison: new PoisonEvent(sourced.event, error) };
        }
      }
      return { messages, poison: null };
    },
  };
}
