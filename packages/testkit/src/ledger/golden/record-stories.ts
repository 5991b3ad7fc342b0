/**
 * Preloaded into the unit tests, it writes down what they append to their logs in memory, a file for each process. `write-golden.ts`
 * finds the stories there of events that no request makes: those of time, of other processes, and of faults.
 *
 *     GOLDEN_STORIES=<folder> NODE_OPTIONS="--import=./packages/testkit/src/ledger/golden/record-stories.ts" npm test -- unit
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '../../memory-store.ts';
import { storiesFolder } from './stories.ts';

/** Events of a stream that are written down; a story that is longer is no example. */
const storyMaximum = 60;

const folder = storiesFolder();
if (folder !== null) record(folder);

function record(into: string): void {
  mkdirSync(into, { recursive: true });
  const file = join(into, `${process.pid}.ndjson`);
  const worlds = new Map<MemoryStore, number>();
  const { append } = MemoryStore.prototype;
  MemoryStore.prototype.append = async function (stream, events, expectedRevision) {
    const before = this.log.length;
    try {
      return await append.call(this, stream, events, expectedRevision);
    } finally {
      const world = worlds.get(this) ?? worlds.size;
      worlds.set(this, world);
      for (const { position: _, ...event } of this.log.slice(before)) {
        if (event.stream !== stream || event.revision >= storyMaximum) continue;
        appendFileSync(file, `${JSON.stringify({ world: `${process.pid}-${world}`, ...event })}\n`);
      }
    }
  };
}
