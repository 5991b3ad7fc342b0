import type { AnyAggregate } from '@counterfoil/kernel';
import { inParallel, messageOf } from '../consume/run-forever.ts';
import type { PublicEvents } from '../define/public-event.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { categoryPrefix, parseStreamName } from '../log/stream-name.ts';
import { type StoredEvent, StoreUnavailable } from '../log/types.ts';
import type { CachedStream } from '../stream-cache/cached-stream.ts';
import type { StreamCache } from '../stream-cache/stream-cache.ts';
import { placeOf } from '../stream-cache/stream-state.ts';
import { type OutgoingMessage, publicMessages } from './message.ts';

/** An event cannot be turned into public messages; the relay stops before it. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent';
  constructor(event: StoredEvent, cause: unknown) {
    const place = `${event.type} at ${event.stream}@${event.revision}`;
    super(`${place} cannot be published: ${messageOf(cause)}`, { cause });
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

/** The makers of public events, by category of their streams. */
type Sources = ReadonlyMap<string, readonly PublicEvents[]>;

/** A stream, folded up to right before an event of it; or the defect for which it cannot be. */
type Loaded =
  | { readonly stream: CachedStream<unknown>; readonly publicEvents: readonly PublicEvents[] }
  | { readonly defect: unknown };

const loadsAtOnce = 16;

/**
 * Makes the renderer. A message shows a record as it was at its event: folded from the log, never
 * taken from a read model. Messages follow from the log and the definitions of public events alone,
 * so that a relay which starts over produces the same messages in the same order.
 */
export function createRenderer(
  cache: StreamCache,
  publicEvents: readonly PublicEvents[],
): Renderer {
  const sources: Sources = Map.groupBy(publicEvents, ({ aggregate }) => aggregate.name);
  return {
    prefixes: [...sources.keys()].map(categoryPrefix),
    render: async (events) => {
      const known = events.filter(({ stream }) => sources.has(categoryOf(stream)));
      const streams = await loadStreams(cache, sources, known);
      const messages: OutgoingMessage[] = [];
      for (const event of known) {
        try {
          messages.push(...renderOne(event, streams.get(event.stream)));
        } catch (error) {
          return { messages, poison: new PoisonEvent(event, error) };
        }
      }
      return { messages, poison: null };
    },
  };
}

const categoryOf = (streamName: string): string => parseStreamName(streamName)?.category ?? '';

/** The streams of events by name, each as it was right before the first of its events. */
async function loadStreams(
  cache: StreamCache,
  sources: Sources,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<string, Loaded>> {
  const loaded = new Map<string, Loaded>();
  const load = async ({ stream: name, revision }: StoredEvent): Promise<void> => {
    const { category, scope, id } = parseStreamName(name) ?? { category: '', scope: '', id: '' };
    const publicEvents = sources.get(category) ?? [];
    const stream = cache.of(placeOf(publicEvents[0]?.aggregate as AnyAggregate, scope, id));
    try {
      await stream.follow(revision - 1);
      loaded.set(name, { stream, publicEvents });
    } catch (defect) {
      if (defect instanceof StoreUnavailable) throw defect;
      loaded.set(name, { defect });
    }
  };
  const first = new Map(events.toReversed().map((event) => [event.stream, event]));
  await inParallel([...first.values()], loadsAtOnce, load);
  return loaded;
}

function renderOne(event: StoredEvent, loaded: Loaded | undefined): readonly OutgoingMessage[] {
  if (!loaded || 'defect' in loaded) throw loaded?.defect;
  const { stream, publicEvents } = loaded;
  const { aggregate } = stream.place;
  return stream.pass(event, (before, after) => {
    if (!belongsTo(aggregate, event)) return [];
    const change = { event: stampedEvent(aggregate, event), before, after };
    return publicMessages(
      event,
      publicEvents.flatMap(({ publish }) => publish(change)),
    );
  });
}
