import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { type Demo, OperatorError, type Settings } from '@counterfoil/cli/settings';
import { runningProcesses } from '@counterfoil/local';
import { answered, api } from '../api.ts';
import { machine } from '../conditions.ts';
import { withFreshInstallation } from '../installation.ts';
import { storeUsage } from '../questions/stored-usage.ts';
import { UsageTables } from '../usage/tables.ts';

export interface ExportBenchOptions {
  /** Usage events that are stored and exported. */
  readonly events: number;
  readonly customers: number;
}

const defaults: ExportBenchOptions = { events: 1_000_000, customers: 1_000 };
const eventName = 'stored';
const days = 1;
const dayMilliseconds = 86_400_000;
const pollMilliseconds = 500;

interface ShownTask {
  readonly task_status: string;
  readonly processed_records: number;
  readonly error_summary?: string;
  readonly started_at?: string;
  readonly completed_at?: string;
  readonly file_name?: string;
  readonly file_sha256?: string;
}

/**
 * `bench exports`: stores usage in a fresh installation and exports it as gzipped CSV to a folder: rows a second, and the most
 * memory that the exporter had. Afterwards the file is read: it must have each event once, and the hash of its manifest.
 *
 * @throws {OperatorError} when it has not
 */
export async function benchExports(
  settings: Settings,
  given: Partial<ExportBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const { events, customers } = { ...defaults, ...given };
  const work = async (demo: Demo, folder: string): Promise<void> => {
    const from = new Date(
      Math.floor(Date.now() / dayMilliseconds) * dayMilliseconds - dayMilliseconds,
    );
    const externalIds = Array.from({ length: customers }, (_, number) => `stored-${number}`);
    await prepare(demo, externalIds);
    const stored = { eventName, externalIds, events, from, days };
    await storeUsage(demo.database_url, stored, print);
    print(`before: ${machine()}`);
    const task = await exported(demo, from);
    const seconds =
      (Date.parse(task.completed_at ?? '') - Date.parse(task.started_at ?? '')) / 1_000;
    const perSecond = Math.round(task.processed_records / seconds).toLocaleString('en-US');
    const rows = task.processed_records.toLocaleString('en-US');
    print(`${rows} rows as gzipped CSV in ${seconds.toFixed(1)} s: ${perSecond} rows/s`);
    print(`the exporter had ${peakMegabytes(folder)} MB of memory at most`);
    print(`after: ${machine()}`);
    const place = join(demo.tenant_id, demo.environment_id, 'warehouse', task.file_name ?? '');
    await assertWhole(join(folder, 'exports', place), task, events);
    print(`checked: the file has each of ${events.toLocaleString('en-US')} events once`);
  };
  await withFreshInstallation(settings, work, { apiProcesses: 1 });
}

async function prepare(demo: Demo, externalIds: readonly string[]): Promise<void> {
  await api(demo, 'POST', '/meters', {
    name: 'Stored',
    event_name: eventName,
    aggregation: { type: 'SUM', field: 'count' },
  });
  let recorded = 0n;
  for (let first = 0; first < externalIds.length; first += 1_000) {
    const events = externalIds.slice(first, first + 1_000).map((external_customer_id) => ({
      event_name: eventName,
      external_customer_id,
      event_id: `first-${external_customer_id}`,
      timestamp: new Date(Date.now() - dayMilliseconds).toISOString(),
      properties: { count: 0 },
    }));
    recorded = (await answered(demo, 'POST', '/events/bulk', { events })).position;
  }
  const tables = new UsageTables(demo.database_url);
  await tables.connect();
  await tables.untilAt(recorded);
  await tables.close();
}

/** Exports what was recorded on the day, and waits for the end of the run. */
async function exported(demo: Demo, from: Date): Promise<ShownTask> {
  const connection = await api<{ readonly id: string }>(demo, 'POST', '/connections', {
    name: 'Folder',
    provider_type: 'local_folder',
  });
  const schedule = await api<{ readonly id: string }>(demo, 'POST', '/tasks/scheduled', {
    connection_id: connection.id,
    entity_type: 'events',
    interval: 'daily',
    job_config: { bucket: 'warehouse', compression: 'gzip' },
  });
  const { task_id: id } = await api<{ readonly task_id: string }>(
    demo,
    'POST',
    `/tasks/scheduled/${schedule.id}/run`,
    {
      start_time: from.toISOString(),
      end_time: new Date(from.getTime() + dayMilliseconds / 2).toISOString(),
    },
  );
  for (;;) {
    await pause(pollMilliseconds);
    const task = await api<ShownTask>(demo, 'GET', `/tasks/${id}`);
    if (task.task_status === 'COMPLETED') return task;
    if (task.error_summary !== undefined) throw new OperatorError(task.error_summary);
  }
}

/** The most memory that the exporter had, by the kernel's account. */
function peakMegabytes(folder: string): string {
  const pid = [...runningProcesses(folder)].find(([name]) => name === 'exporter')?.[1];
  const status = pid === undefined ? '' : readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes = 'unknown'] = /VmHWM:\s+(\d+) kB/.exec(status) ?? [];
  return Number.isNaN(Number(kilobytes)) ? kilobytes : (Number(kilobytes) / 1_024).toFixed(0);
}

/** Throws unless a file has the hash that is told, and a row for each event, once. */
async function assertWhole(path: string, task: ShownTask, events: number): Promise<void> {
  const hash = createHash('sha256');
  const seen = new Uint8Array(events);
  let rest = '';
  const stored = createReadStream(path);
  stored.on('data', (chunk) => hash.update(chunk));
  for await (const chunk of stored.pipe(createGunzip())) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, number] = /^stored-(\d+),/.exec(line) ?? [];
      if (number !== undefined) seen[Number(number)] = (seen[Number(number)] ?? 0) + 1;
    }
  }
  const wrong = seen.findIndex((times) => times !== 1);
  if (wrong >= 0) throw new OperatorError(`stored-${wrong} is there ${seen[wrong]} times.`);
  if (hash.digest('hex') !== task.file_sha256) throw new OperatorError('The hash is another one.');
}
