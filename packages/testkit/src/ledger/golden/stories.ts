import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredEvent } from '@counterfoil/engine';

/** The folder of stories that tests have left, where the variable GOLDEN_STORIES names one. */
export const storiesFolder = (): string | null => process.env.GOLDEN_STORIES || null;

type Told = Omit<StoredEvent, 'position'> & { readonly world: string };

/** The events of each stream of each world in which tests have left stories, in their order. */
export function storiesIn(folder: string): readonly (readonly StoredEvent[])[] {
  const streams = new Map<string, StoredEvent[]>();
  for (const file of readdirSync(folder).toSorted()) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue;
      const { world, ...event } = JSON.parse(line) as Told;
      const key = `${world} ${event.stream}`;
      const story = streams.get(key) ?? [];
      streams.set(key, story);
      // Of tests that append at the same time the order of lines is that of the calls, not of the log.
      story[event.revision] = { ...event, position: BigInt(event.revision + 1) };
    }
  }
  return [...streams.values()];
}
