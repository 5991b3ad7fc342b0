import type { EventStore, StoredEvent } from './types.ts';

/** The event at a revision of a stream; null when the log does not have it. */
export async function eventAt(
  store: Pick<EventStore, 'readStream'>,
  stream: string,
  revision: number,
): Promise<StoredEvent | null> {
  let found: StoredEvent | null = null;
  // Read to the end: leaving the loop early would leave the read open in some clients.
  for await (const event of store.readStream(stream, { from: revision, maximum: 1 })) {
    if (event.revision === revision) found = event;
  }
  return found;
}
