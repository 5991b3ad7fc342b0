import { setTimeout as pause } from 'node:timers/promises';
import type { Snapshots } from '../stream-cache/snapshot-folder.ts';

/** Long streams that are read before a process accepts requests, and how long it lets these wait for that at most. */
export const readAheadLimits = { streams: 16, milliseconds: 2_000 };

/**
 * Reads the long streams that were used last, for a process that begins. Whoever asks first would else wait until
 * thousands of events are folded by code that was not compiled yet, and after a crash or a release many ask at once. What
 * is not read in time is read when somebody asks for it. Never rejects.
 *
 * @param read reads a stream by its name. What keeps it from that is said to whoever asks for the stream
 */
export async function readAhead(
  snapshots: Pick<Snapshots, 'lastUsed'>,
  read: (streamName: string) => Promise<unknown>,
  { streams, milliseconds }: typeof readAheadLimits = readAheadLimits,
): Promise<void> {
  const ended = new AbortController();
  const readAll = async (): Promise<void> => {
    for (const name of await snapshots.lastUsed(streams)) {
      if (ended.signal.aborted) return;
      await read(name).catch(() => undefined);
    }
  };
  const late = pause(milliseconds, undefined, { signal: ended.signal });
  await Promise.race([readAll(), late]).finally(() => ended.abort());
}
