import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Part, startPart } from '../part.ts';
import { type Stack, startStack } from '../stack.ts';
import { type S3Server, startS3Server } from '../storage/s3-server.ts';
import { exportsTo, startTestExporter } from './exporting.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('a year of exports');

const hour = 3_600_000;
const minutes = 60_000;
const start = Date.parse('2025-01-01T00:00:00.000Z');
const hours = 365 * 24;
/** Hours between two looks at the clock, in which usage is recorded and credits are spent. */
const step = 73;
/** Steps of which one part of the service is away, each a month of the clock. */
const away = { exporter: [30, 40], storage: [60, 70], projector: [90, 100] } as const;
const eventsOfStep = 50;

const at = (number: number): string => new Date(start + number * hour).toISOString();

const isIn = ([from, to]: readonly [number, number], place: number): boolean =>
  place >= from && place < to;

/** Moves the clock, and waits until all that was due by then is done. */
async function advance(tenant: ClockedTenant, to: string): Promise<void> {
  const { status, text } = await tenant.advance(to);
  assert.is(status, 202, text);
  await eventually(
    async () => (await tenant.clock()).state === 'standing',
    () => `the clock never came to ${to}`,
    10 * minutes,
  );
}

/** All usage events that a tenant has, by the list of the API. */
async function listedEvents(tenant: ClockedTenant): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let iter_last_key: string | undefined; ; ) {
    const page = { page_size: 1_000, ...(iter_last_key && { iter_last_key }) };
    const { events, ...more } = await tenant.ok('POST', '/events/query', page);
    ids.push(...events.map(({ id }: { id: string }) => id));
    if (!more.has_more) return ids;
    iter_last_key = more.iter_last_key;
  }
}

/** All entries of a wallet, by the list of the API. */
async function listedEntries(tenant: ClockedTenant, walletId: string) {
  const entries: { readonly id: string; readonly credit_amount: string }[] = [];
  for (;;) {
    const path = `/wallets/${walletId}/transactions?limit=1000&offset=${entries.length}`;
    const { items } = await tenant.ok('GET', path);
    if (items.length === 0) return entries;
    entries.push(...items);
  }
}

/** The rows of all files of a prefix, in which windows tile, and manifests tell what is in their files. */
async function exportedRows(storage: S3Server, prefix: string) {
  const rows: Record<string, string>[] = [];
  const windows: string[] = [];
  let sum = 0n;
  let counted = 0;
  let before: { readonly end_time: string; readonly to_position: string } | null = null;
  const isManifest = (key: string) =>
    key.startsWith(`${prefix}/`) && key.endsWith('.manifest.json');
  for (const key of storage.keys().filter(isManifest)) {
    const manifest = JSON.parse((await storage.get(key)).toString());
    const stored = await storage.get(manifest.files[0].key);
    const lines = gunzipSync(stored).toString().split('\n').slice(0, -1);
    assert.is(createHash('sha256').update(stored).digest('hex'), manifest.files[0].sha256);
    assert.equal([lines.length, manifest.generation], [manifest.rows, 1]);
    if (before) {
      const { start_time, from_position } = manifest;
      assert.equal([start_time, from_position], [before.end_time, before.to_position]);
    }
    before = manifest;
    rows.push(...lines.map((line) => JSON.parse(line)));
    windows.push(manifest.start_time);
    counted += manifest.rows;
    sum += BigInt(manifest.sums.credit_amount?.usd ?? 0);
  }
  return { rows, windows, sum, counted };
}

/** Lives through the year: usage and debits in each step, and outages of a month each. */
async function aYear(
  stack: Stack,
  storage: S3Server,
  exporter: Part,
  tenant: ClockedTenant,
  walletId: string,
): Promise<void> {
  for (let place = 0; place * step < hours; place += 1) {
    if (place === away.exporter[0]) await exporter.stop();
    if (place === away.exporter[1]) await exporter.start();
    if (place === away.storage[0]) await storage.break({ kind: 'refused' });
    if (place === away.storage[1]) await storage.break(null);
    const isProjectorAway = isIn(away.projector, place);
    if (isProjectorAway) await stack.parts.projector.stop();
    const events = Array.from({ length: eventsOfStep }, (_, index) => ({
      ...{ event_name: 'calls', external_customer_id: 'ada' },
      event_id: `year-${place}-${index}`,
    }));
    await tenant.ok('POST', '/events/bulk', { events });
    await tenant.ok('POST', `/wallets/${walletId}/debit`, { credits: String(1 + (place % 9)) });
    if (isProjectorAway) await stack.parts.projector.start();
    await advance(tenant, at(Math.min((place + 1) * step, hours)));
  }
  await advance(tenant, new Date(start + hours * hour + 30 * minutes).toISOString());
}

test('a year of hours with three outages is in files, each row once, and the manifests add up', async () => {
  const [stack, storage] = await Promise.all([startStack(), startS3Server()]);
  const { part: exporter } = await startPart(() => startTestExporter(stack));
  try {
    const tenant = await onTestClock(stack, 'expyear', at(0));
    await untilUsageIsShown(tenant);
    const { schedule } = await exportsTo(tenant, storage, 'hourly');
    await schedule({ entity_type: 'events' }, { format: 'ndjson' });
    const daily = { key_prefix: 'daily', format: 'ndjson' };
    await schedule({ entity_type: 'wallet_ledger', interval: 'daily' }, daily);
    await tenant.ok('POST', '/customers', { name: 'Ada', external_id: 'ada' });
    const { id: walletId } = await tenant.ok('POST', '/wallets', {
      ...{ external_customer_id: 'ada', currency: 'usd', initial_credits_to_load: '1000' },
    });
    await aYear(stack, storage, exporter, tenant, walletId);
    const made = () => storage.keys().filter((key) => key.endsWith('.manifest.json')).length;
    await eventually(
      async () => made() === hours + 365,
      () => `there are ${made()} manifests of ${hours + 365}`,
      50 * minutes,
    );
    const usage = await exportedRows(storage, 'hourly');
    assert.is(new Set(usage.windows).size, hours);
    assert.is(usage.counted, usage.rows.length);
    const listed = await listedEvents(tenant);
    assert.is(listed.length, Math.ceil(hours / step) * eventsOfStep);
    assert.equal(usage.rows.map(({ id }) => id).sort(), listed.toSorted());
    const ledger = await exportedRows(storage, 'daily');
    const entries = await listedEntries(tenant, walletId);
    assert.equal(
      ledger.rows.map(({ id, credit_amount }) => `${id} ${credit_amount}`).sort(),
      entries.map(({ id, credit_amount }) => `${id} ${credit_amount}`).sort(),
    );
    const credits = entries.reduce((sum, entry) => sum + BigInt(entry.credit_amount), 0n);
    assert.is(ledger.sum, credits);
    assert.equal(storage.openUploads(), []);
  } finally {
    await exporter.stop();
    await storage.stop();
    await stack.stop();
  }
});

test.run();
