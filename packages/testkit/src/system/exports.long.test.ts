import { gunzipSync } from 'node:zlib';
import { createLog } from '@counterfoil/engine';
import { type Exporter, startExporter } from '@counterfoil/exporter';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { type S3Server, startS3Server } from '../storage/s3-server.ts';

const test = suite('a year of exports');

const hour = 3_600_000;
const start = Date.parse('2025-01-01T00:00:00.000Z');
const hours = 365 * 24;
/** Hours between two looks at the clock, in which usage is recorded. */
const step = 73;
const minutes = 60_000;

const at = (number: number): string => new Date(start + number * hour).toISOString();

const exporterOf = (stack: Stack): Promise<Exporter> =>
  startExporter(
    {
      EVENTSTORE_URL: stack.eventStoreUrl,
      DATABASE_URL: stack.databaseUrl,
      COUNTERFOIL_SECRET_KEY: stack.secretKey,
      WEBHOOK_ALLOW_HTTP: true,
      WEBHOOK_ALLOWED_CIDRS: ['127.0.0.0/8'],
      WEBHOOK_DENIED_CIDRS: [],
      HOST: '127.0.0.1',
      HEALTH_PORT: 0,
      LOG_LEVEL: 'silent',
      CLOCK_SKEW_SECONDS: 5,
    },
    [],
    createLog({ level: 'silent', name: 'exporter' }),
  );

/** Moves the clock, and waits until it stands. */
async function advance(tenant: TestTenant, to: string): Promise<void> {
  const clock = `/environments/${tenant.environmentId}/clock`;
  await tenant.ok('POST', `${clock}/advance`, { to });
  await eventually(
    async () => (await tenant.ok('GET', clock)).state === 'standing',
    () => `the clock never came to ${to}`,
    10 * minutes,
  );
}

async function scheduled(tenant: TestTenant, storage: S3Server): Promise<string> {
  const { id: connection_id } = await tenant.ok('POST', '/connections', {
    name: 'Warehouse',
    provider_type: 's3',
    encrypted_secret_data: { s3: storage.credentials },
  });
  const { id } = await tenant.ok('POST', '/tasks/scheduled', {
    connection_id,
    entity_type: 'events',
    interval: 'hourly',
    job_config: {
      bucket: storage.bucket,
      region: 'eu-central-1',
      endpoint_url: storage.url,
      use_path_style: true,
      format: 'ndjson',
    },
  });
  return id;
}

test('a year of hours with three outages is in files, each row once, and the manifests add up', async () => {
  const [stack, storage] = await Promise.all([startStack(), startS3Server()]);
  let exporter = await exporterOf(stack);
  try {
    const tenant = await stack.tenant('expyear');
    await tenant.ok('PUT', `/environments/${tenant.environmentId}/clock`, { now: at(0) });
    await scheduled(tenant, storage);
    const sent = new Set<string>();
    for (let number = 0; number < hours; number += step) {
      const phase = Math.floor((number / hours) * 12);
      // The exporter, the storage and the projector are away again and again for a month each.
      if (phase === 3 && number % (2 * step) === 0) await exporter.stop();
      if (phase === 6 && number % (4 * step) === 0) await storage.break({ kind: 'refused' });
      if (phase === 9) await stack.parts.projector.stop();
      const ids = Array.from({ length: 5 }, (_, index) => `year-${number}-${index}`);
      await tenant.ok('POST', '/events/bulk', {
        events: ids.map((event_id) => ({
          event_name: 'calls',
          external_customer_id: 'ada',
          event_id,
        })),
      });
      for (const id of ids) sent.add(id);
      await stack.parts.projector.start();
      await advance(tenant, at(Math.min(number + step, hours)));
      await storage.break(null);
      if (phase === 3 && number % (2 * step) === 0) exporter = await exporterOf(stack);
    }
    await advance(tenant, new Date(start + hours * hour + 30 * minutes).toISOString());
    const manifests = () => storage.keys().filter((key) => key.endsWith('.manifest.json'));
    await eventually(
      async () => manifests().length === hours,
      () => `there are ${manifests().length} manifests of ${hours}`,
      50 * minutes,
    );
    const seen = new Map<string, number>();
    let before: { end_time: string; to_position: string } | null = null;
    let rows = 0;
    for (const key of manifests()) {
      const manifest = JSON.parse((await storage.get(key)).toString());
      const stored = await storage.get(manifest.files[0].key);
      const lines = gunzipSync(stored).toString().split('\n').slice(0, -1);
      assert.is(lines.length, manifest.rows);
      for (const line of lines) {
        const { id } = JSON.parse(line);
        seen.set(id, (seen.get(id) ?? 0) + 1);
      }
      rows += manifest.rows;
      assert.is(manifest.generation, 1);
      if (before) {
        assert.equal(
          [manifest.start_time, manifest.from_position],
          [before.end_time, before.to_position],
        );
      }
      before = manifest;
    }
    assert.is(rows, sent.size);
    assert.equal([...seen.keys()].sort(), [...sent].sort());
    assert.ok([...seen.values()].every((times) => times === 1));
  } finally {
    await exporter.stop();
    await storage.stop();
    await stack.stop();
  }
});

test.run();
