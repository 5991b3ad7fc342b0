/** A reaction in a process of its own, so that a test can kill it: store URL, database URL, where it halts. */
import { createStreams } from '../decide/streams.ts';
import type { Reader } from '../define/context.ts';
import { openEventStore } from '../log/event-store.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import { createLog } from '../operations/log.ts';
import { openLogFeed } from './log-feed.ts';
import { startReactions } from './reactions.ts';
import { order, packing, parcel } from './test-orders.ts';

const [storeUrl = '', database = '', halt = ''] = process.argv.slice(2);
const store = openEventStore({ url: storeUrl });
const feed = openLogFeed({ store, prefixes: [categoryPrefix(order.name)] });
const forever = new Promise<never>(() => undefined);

/** Tells the test that it has come to a step, and halts or fails there if it is the one. */
async function pass(step: string): Promise<void> {
  process.send?.(step);
  if (step === halt) await forever;
  if (`fail ${step}` === halt) throw new Error('out of boxes');
}

startReactions({
  database,
  store: { ...store, follow: feed.follow },
  streams: createStreams({ store, aggregates: [order, parcel] }),
  reactions: [
    packing(
      (id, revision) => pass(`before ${id}@${revision}`),
      (id, revision) => pass(`after ${id}@${revision}`),
    ),
  ],
  reader: () => ({}) as Reader,
  projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
  isActive: () => true,
  log: createLog({ level: 'silent', name: 'reactions' }),
  retry: { firstMilliseconds: 10, lastMilliseconds: 100 },
});
process.send?.('started');
// Whoever started it may die without saying so.
process.on('disconnect', () => process.exit(1));
