/** A relay in a process of its own, so that a test can kill it: store URL, NATS URL, checkpoint. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { openEventStore } from '../log/event-store.ts';
import { connectNats } from '../nats/nats-connection.ts';
import { createLog } from '../operations/log.ts';
import { StreamCache } from '../stream-cache/stream-cache.ts';
import { startRelay } from './relay.ts';
import { boxPublicEvents } from './test-box.ts';

const [storeUrl = '', natsUrl = '', checkpointFile = ''] = process.argv.slice(2);
const log = createLog({ level: 'silent', name: 'relay' });
const nats = await connectNats({ url: natsUrl, name: 'relay under test', log, firstWait: 100 });

const store = openEventStore({ url: storeUrl });
startRelay({
  store,
  cache: new StreamCache({ store }),
  nats,
  publicEvents: [boxPublicEvents],
  projected: { waitFor: async () => undefined },
  checkpoint: {
    load: async () => {
      const text = await readFile(checkpointFile, 'utf8').catch(() => 'null');
      const row = JSON.parse(text);
      return row && { ...row, position: BigInt(row.position) };
    },
    save: async ({ stream, sequence, position }) => {
      const row = { stream, sequence, position: String(position) };
      await writeFile(`${checkpointFile}.new`, JSON.stringify(row));
      await rename(`${checkpointFile}.new`, checkpointFile);
    },
  },
  log,
});
process.send?.('started');
// Whoever started it may die without saying so.
process.on('disconnect', () => process.exit(1));
