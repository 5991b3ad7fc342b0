import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { UsageEventTrace } from '@counterfoil/modules';
import type { Command } from 'commander';
import { ask, type PlaceOptions, placeOf, withPlace } from '../api-options.ts';
import { callApi } from '../http-api.ts';
import { OperatorError, readSettings, serverUrls } from '../settings.ts';
import { addCheckCommand } from './check-command.ts';
import { addCredentialsCommand } from './credentials-command.ts';
import type { EventFormat } from './event-rows.ts';
import { explainedEvent } from './explain-event.ts';
import type { ImportCounts, RefusedLine } from './import-events.ts';
import { addMonthsCommands } from './months-command.ts';

interface ImportOptions extends PlaceOptions {
  readonly format?: string;
  readonly refused?: string;
  readonly backfill?: string;
}

interface TailOptions {
  readonly environment?: string;
  readonly name?: string;
  readonly customer?: string;
}

type Print = (line: string) => void;

/** Adds `usage import | explain | tail | check | credentials | months | drop | refill` to the program. */
export function addUsageCommand(program: Command, print: Print): void {
  const usage = program
    .command('usage')
    .description('usage events, in from files and as they come');
  addCredentialsCommand(usage, print);
  addCheckCommand(usage, print);
  addMonthsCommands(usage, print);

  withPlace(usage.command('import'))
    .description(
      'record the events of a CSV or NDJSON file; the same file again records nothing twice',
    )
    .argument('<file>')
    .option('--format <name>', 'csv or ndjson; by default as the file is named')
    .option('--refused <file>', 'write the refused lines there, as lines of JSON')
    .option('--backfill <id>', 'let them wait in an open backfill')
    .action(async (file: string, options: ImportOptions) => {
      const { refused } = await importFile(file, options, print);
      if (refused > 0) process.exitCode = 1;
    });

  withPlace(usage.command('explain'))
    .description('print a usage event, and which meters take what of it or why they take nothing')
    .argument('<event_id>')
    .option('--json', 'print it as JSON', false)
    .action(async (id: string, { json, ...place }: PlaceOptions & { readonly json: boolean }) => {
      const path = `/events/lookup?id=${encodeURIComponent(id)}`;
      const trace = await ask<UsageEventTrace>(place, 'GET', path);
      for (const line of json ? [JSON.stringify(trace)] : explainedEvent(trace)) print(line);
    });

  usage
    .command('tail')
    .description('print usage as it is recorded, as lines of JSON')
    .option('--environment <id>', 'only that of an environment')
    .option('--name <name>', 'only events of this name')
    .option('--customer <id>', 'only those of this external customer id')
    .action(async ({ environment, name, customer }: TailOptions) => {
      const abort = new AbortController();
      process.once('SIGINT', () => abort.abort());
      process.once('SIGTERM', () => abort.abort());
      const choice = {
        ...(environment === undefined ? {} : { environmentId: environment }),
        ...(name === undefined ? {} : { eventName: name }),
        ...(customer === undefined ? {} : { externalCustomerId: customer }),
      };
      const { tailUsage } = await import('./tail-usage.ts');
      await tailUsage(serverUrls(readSettings()).eventStoreUrl, choice, abort.signal, print);
    });
}

const repeatMilliseconds = 1_000;
const progressMilliseconds = 2_000;
/** Refused lines that are printed where no file takes them. */
const printedMaximum = 20;

async function importFile(
  file: string,
  options: ImportOptions,
  print: Print,
): Promise<ImportCounts> {
  const format = formatOf(file, options.format);
  const place = placeOf(options);
  const { backfill } = options;
  const path =
    backfill === undefined
      ? '/events/bulk'
      : `/events/backfills/${encodeURIComponent(backfill)}/events`;
  const digest = await digestOf(file);
  const { eventRows } = await import('./event-rows.ts');
  const { importEvents } = await import('./import-events.ts');
  const refusals = refusalsTo(options.refused, print);
  const startedAt = performance.now();
  let toldAt = startedAt;
  const onProgress = (counts: ImportCounts): void => {
    if (performance.now() - toldAt < progressMilliseconds) return;
    toldAt = performance.now();
    print(`… ${describe(counts)}`);
  };
  try {
    const rows = eventRows(readText(file), format, (line) => `import-${digest}-${line}`);
    const counts = await importEvents(rows, {
      send: (text) => callApi(place, 'POST', path, { text }),
      pause: () => pause(repeatMilliseconds),
      onRefused: refusals.take,
      onProgress,
    });
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    print(`${describe(counts)} in ${seconds} s`);
    return counts;
  } catch (error) {
    if (error instanceof SyntaxError) throw new OperatorError(`${file}: ${error.message}`);
    throw error;
  } finally {
    await refusals.end();
  }
}

const describe = ({ lines, recorded, repeated, refused }: ImportCounts): string => {
  const shown = (count: number): string => count.toLocaleString('en-US');
  return (
    `${shown(lines)} events: ${shown(recorded)} recorded, ` +
    `${shown(repeated)} were there already, ${shown(refused)} refused`
  );
};

/** The format that is asked for, else that of the name of the file. Throws `OperatorError` when there is neither. */
function formatOf(file: string, asked: string | undefined): EventFormat {
  const format = asked ?? (/\.(csv|ndjson|jsonl)$/i.exec(file)?.[1] ?? '').toLowerCase();
  if (format === 'csv') return 'csv';
  if (format === 'ndjson' || format === 'jsonl') return 'ndjson';
  throw new OperatorError('Say what the file is: --format csv or --format ndjson.');
}

const digestDigits = 16;

/** The begin of the SHA-256 of a file: events without an id get one that follows from the file and their line. */
async function digestOf(file: string): Promise<string> {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file)) hash.update(bytes);
  return hash.digest('hex').slice(0, digestDigits);
}

const readText = (file: string): AsyncIterable<string> =>
  createReadStream(file, { encoding: 'utf8', highWaterMark: 256 * 1024 });

/** Takes the refused lines: into a file, or the first of them as lines for people. */
function refusalsTo(path: string | undefined, print: Print) {
  if (path !== undefined) {
    const stream = createWriteStream(path);
    return {
      take: (refused: RefusedLine): void => void stream.write(`${JSON.stringify(refused)}\n`),
      end: (): Promise<void> =>
        new Promise((resolve, reject) => {
          stream.once('error', reject);
          stream.end(resolve);
        }),
    };
  }
  let count = 0;
  return {
    take: ({ line, error }: RefusedLine): void => {
      count += 1;
      if (count <= printedMaximum) print(`! line ${line}: ${error}`);
      else if (count === printedMaximum + 1) print('! and more: --refused FILE takes all of them');
    },
    end: (): Promise<void> => Promise.resolve(),
  };
}
