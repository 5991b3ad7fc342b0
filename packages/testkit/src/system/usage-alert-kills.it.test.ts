import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Delivery, startSink } from '../sink.ts';
import { untilAccepted } from './insist.ts';
import { startInstallation } from './installation.ts';
import { openings } from './openings.ts';
import { endEverything, untilRuns } from './usage-kills.ts';

const test = suite('usage alerts while the projector is killed');

const levels = Array.from({ length: 10 }, (_, index) => String((index + 1) * 50));
const kills = 3;

test('each threshold is told once, whenever the projector dies', async () => {
  const opened = openings();
  try {
    const folder = opened.add(
      mkdtempSync(join(tmpdir(), 'counterfoil-alert-kills-')),
      async (path) => rmSync(path, { recursive: true, force: true }),
    );
    const told = new Map<string, string>();
    const receive = ({ headers, body }: Delivery): number => {
      told.set(String(headers['webhook-id']), JSON.parse(body).threshold.level);
      return 200;
    };
    const sink = opened.add(await startSink(receive), (one) => one.close());
    const settings = { LOG_LEVEL: 'error', RATE_LIMIT_PER_SECOND: '1000000' };
    const installation = await startInstallation({ folder, port: await freePort(), settings });
    opened.add(null, () => endEverything(installation));
    const api = caller(installation.baseUrl, installation.apiKey);
    const post = async (path: string, body: object) =>
      (await untilAccepted(() => api.call('POST', path, body), path)).body;
    const wanted = { url: sink.url, event_types: ['usage_alert.threshold_crossed'] };
    await post('/webhooks/endpoints', wanted);
    const { id: customer_id } = await post('/customers', { external_id: 'acme', name: 'Acme' });
    const meter = { event_name: 'tokens', aggregation: { type: 'COUNT' } };
    const { id: meter_id } = await post('/meters', { name: 'Tokens', ...meter });
    const thresholds = levels.map((value) => ({ type: 'absolute', value }));
    await post('/usage/alerts', { customer_id, meter_id, reset_period: 'NEVER', thresholds });

    let sent = 0;
    const use = async (count: number): Promise<void> => {
      const events = Array.from({ length: count }, () => {
        sent += 1;
        return { event_name: 'tokens', external_customer_id: 'acme', event_id: `e-${sent}` };
      });
      await post('/events/bulk', { events });
    };
    for (let kill = 0; kill < kills; kill += 1) {
      for (let request = 0; request < 6; request += 1) await use(20);
      const pid = await untilRuns(installation, 'projector');
      process.kill(pid, 'SIGKILL');
      await use(20);
      await untilRuns(installation, 'projector', pid);
    }
    await use(500 - sent);
    await eventually(
      () => [...told.values()].includes('500'),
      () => `told of ${[...told.values()]}`,
    );
    // Webhooks come in the order of the alert's events: whoever has the last one has them all.
    assert.equal([...told.values()], levels);
  } finally {
    await opened.closeAll();
  }
});

test.run();
