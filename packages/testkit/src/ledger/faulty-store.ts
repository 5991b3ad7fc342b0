import { AppendError, type EventStore, StoreUnavailable } from '@counterfoil/engine';

/** Calls of a store during which something can go wrong. */
export type CallKind = 'append' | 'readStream' | 'readLast';

/** The mishap of one call. */
export type Mishap =
  /** The call never gets there. */
  | 'unavailable'
  /** It never gets there, and nobody knows. Of a read: it breaks off at once. */
  | 'lost'
  /** It is carried out, and the answer is lost. Of a read: it breaks off after the first event. */
  | 'unheard'
  /** Another writer was first. Of a read: it breaks off at its end. */
  | 'conflict';

export const mishaps: readonly Mishap[] = ['unavailable', 'lost', 'unheard', 'conflict'];

/** Decides the fate of each call; null: it works. */
export type Fate = (call: CallKind) => Mishap | null;

/** A store of which single calls go wrong in every way in which they can. */
export function faultyStore(store: EventStore, fate: Fate): EventStore {
  return {
    append: async (stream, events, expectedRevision) => {
      const mishap = fate('append');
      if (mishap === 'unavailable') throw new AppendError('unavailable', 'away');
      if (mishap === 'lost') throw new AppendError('unknown_outcome', 'lost');
      if (mishap === 'conflict') throw new AppendError('conflict', 'another was first');
      const appended = await store.append(stream, events, expectedRevision);
      if (mishap === 'unheard') throw new AppendError('unknown_outcome', 'unheard');
      return appended;
    },
    readStream: (stream, options) => breakingOff(store.readStream(stream, options), fate),
    readLast: async (stream) => {
      if (fate('readLast') !== null) throw new StoreUnavailable('away');
      return store.readLast(stream);
    },
    readLog: (options) => store.readLog(options),
    time: () => store.time(),
    follow: (options, maximum) => store.follow(options, maximum),
    head: () => store.head(),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

async function* breakingOff<Event>(events: AsyncIterable<Event>, fate: Fate): AsyncIterable<Event> {
  const mishap = fate('readStream');
  if (mishap === 'unavailable' || mishap === 'lost') throw new StoreUnavailable('away');
  for await (const event of events) {
    yield event;
    if (mishap === 'unheard') throw new StoreUnavailable('broken off');
  }
  if (mishap === 'conflict') throw new StoreUnavailable('broken off at the end');
}
