import type { AnyAggregate } from '@counterfoil/kernel';
import { inParallel } from '../consume/run-forever.ts';
import { parseStreamName } from '../log/stream-name.ts';
import { type Position, type StoredEvent, StoreUnavailable } from '../log/types.ts';
import type { CachedStream } from '../stream-cache/cached-stream.ts';
import type { StreamCache } from '../stream-cache/stream-cache.ts';
import { placeOf, type StreamPlace, type StreamState } from '../stream-cache/stream-state.ts';

type Stream = CachedStream<unknown>;
type State = StreamState<unknown>;

/** An event with the stream that it belongs to, right before and after it. */
export interface Step {
  readonly event: StoredEvent;
  readonly aggregate: AnyAggregate;
  readonly before: State;
  readonly after: State;
}

/** A stream, folded up to right before its next event; or the defect for which it cannot be. */
type Loaded = { readonly stream: Stream } | { readonly defect: unknown };

export const loadsAtOnce = 16;

/**
 * The streams of some aggregates, as they are at the place of the log at which a reader is that takes
 * every event of theirs, batch by batch and in order. A stream is read when it is first needed. From
 * then on the events that pass by keep it right, so that looking at it again reads nothing.
 */
export class RelayedStreams {
  readonly #cache: StreamCache;
  readonly #aggregates: ReadonlyMap<string, AnyAggregate>;
  /** Streams that are right at the end of the batch before: all their events since have gone over them. */
  readonly #known = new WeakSet<Stream>();

  constructor(cache: StreamCache, aggregates: Iterable<AnyAggregate>) {
    this.#cache = cache;
    this.#aggregates = new Map([...aggregates].map((each) => [each.name, each]));
  }

  /** The aggregate whose event it is; undefined when it is of none of these. */
  aggregateOf({ stream }: StoredEvent): AnyAggregate | undefined {
    return this.#aggregates.get(parseStreamName(stream)?.category ?? '');
  }

  /** Takes the next events. Rejects with `StoreUnavailable` when streams of theirs cannot be read. */
  async take(events: readonly StoredEvent[]): Promise<Batch> {
    const own = events.filter((event) => this.aggregateOf(event));
    const loaded = new Map<string, Loaded>();
    const first = new Map(own.toReversed().map((event) => [event.stream, event]));
    await inParallel([...first.values()], loadsAtOnce, async (event) => {
      loaded.set(event.stream, await this.#before(event));
    });
    const load = (place: StreamPlace) => this.#upTo(place, events.at(-1)?.position ?? 0n);
    return new Batch(own, loaded, load);
  }

  /** The stream of an event, right before it. */
  async #before(event: StoredEvent): Promise<Loaded> {
    const { scope = '', id = '' } = parseStreamName(event.stream) ?? {};
    const stream = this.#cache.of(placeOf(this.aggregateOf(event) as AnyAggregate, scope, id));
    try {
      await stream.follow(event.revision - 1);
      this.#known.add(stream);
      return { stream };
    } catch (defect) {
      if (defect instanceof StoreUnavailable) throw defect;
      return { defect };
    }
  }

  /** A stream without events in the batch that ends at a position, as it is then. */
  async #upTo(place: StreamPlace, position: Position): Promise<State> {
    const stream: Stream = this.#cache.of(place);
    if (!this.#known.has(stream)) {
      await stream.followUpTo(position);
      this.#known.add(stream);
    }
    return stream.followed;
  }
}

/** The streams at every event of one batch. */
export class Batch {
  readonly #events: readonly StoredEvent[];
  readonly #loaded: ReadonlyMap<string, Loaded>;
  readonly #load: (place: StreamPlace) => Promise<State>;
  readonly #steps = new Map<string, Step[]>();
  readonly #others = new Map<string, Promise<State>>();

  constructor(
    events: readonly StoredEvent[],
    loaded: ReadonlyMap<string, Loaded>,
    load: (place: StreamPlace) => Promise<State>,
  ) {
    this.#events = events;
    this.#loaded = loaded;
    this.#load = load;
  }

  /** Moves over all events, and returns what each did to its stream, or the defect in its way. */
  steps(): readonly (Step | { readonly event: StoredEvent; readonly defect: unknown })[] {
    return this.#events.map((event) => {
      const loaded = this.#loaded.get(event.stream);
      if (!loaded || 'defect' in loaded) return { event, defect: loaded?.defect };
      try {
        const { aggregate } = loaded.stream.place;
        const step = { event, aggregate, ...loaded.stream.pass(event) };
        const steps = this.#steps.get(event.stream);
        if (steps) steps.push(step);
        else this.#steps.set(event.stream, [step]);
        return step;
      } catch (defect) {
        return { event, defect };
      }
    });
  }

  /** A stream as it is right after the events up to a position of the batch. Asked after `steps`. */
  async at(place: StreamPlace, position: Position): Promise<State> {
    const steps = this.#steps.get(place.name);
    const last = steps?.at(-1);
    if (last) return steps?.find(({ event }) => event.position > position)?.before ?? last.after;
    const loaded = this.#loaded.get(place.name);
    if (loaded && 'defect' in loaded) throw loaded.defect;
    const known = this.#others.get(place.name) ?? this.#load(place);
    this.#others.set(place.name, known);
    return known;
  }
}
