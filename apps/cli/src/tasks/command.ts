import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Task } from '@counterfoil/modules';
import type { Command } from 'commander';
import { ask, type PlaceOptions, placeOf, withPlace } from '../api-options.ts';
import { type ApiPlace, callApi } from '../http-api.ts';
import { OperatorError } from '../settings.ts';
import { importFile } from './import-file.ts';

interface ImportOptions extends PlaceOptions {
  readonly type?: string;
  readonly update: boolean;
  readonly refused?: string;
}

const partBytes = 8 * 1024 * 1024;
const lookMilliseconds = 1_000;

const entities: Readonly<Record<string, string>> = {
  customers: 'CUSTOMERS',
  events: 'EVENTS',
  prices: 'PRICES',
};
const types: Readonly<Record<string, string>> = {
  '.csv': 'CSV',
  '.ndjson': 'NDJSON',
  '.jsonl': 'NDJSON',
  '.json': 'JSON',
};

/** Adds `tasks import | show | stop | resume | refused` to the program. */
export function addTasksCommand(program: Command, print: (line: string) => void): void {
  const tasks = program.command('tasks').description('imports that the service carries out');

  withPlace(tasks.command('import'))
    .description('have a file of customers, events or prices imported, and wait for the end')
    .argument('<kind>', 'customers, events or prices')
    .argument('<file>')
    .option('--type <name>', 'csv, ndjson or json; by default as the file is named')
    .option('--update', 'change customers that are there with other contents', false)
    .option('--refused <file>', 'write the rows that were refused there, as lines of JSON')
    .action(async (kind: string, file: string, options: ImportOptions) => {
      const task = await importNamed(kind, file, options, print);
      print(described(task));
      if (options.refused !== undefined && task.failed_records > 0) {
        await download(placeOf(options), task.id, options.refused);
      }
      if (task.task_status !== 'COMPLETED' || task.failed_records > 0) process.exitCode = 1;
    });

  withPlace(tasks.command('show'))
    .description('tell how far a task is')
    .argument('<id>')
    .action(async (id: string, options: PlaceOptions) => {
      print(described(await ask<Task>(options, 'GET', pathOf(id))));
    });

  const setting = (name: string, task_status: string, description: string) =>
    withPlace(tasks.command(name))
      .description(description)
      .argument('<id>')
      .action(async (id: string, options: PlaceOptions) => {
        const path = `${pathOf(id)}/status`;
        const { message } = await ask<{ message: string }>(options, 'PUT', path, { task_status });
        print(message);
      });
  setting('stop', 'FAILED', 'stop a task behind the rows under way');
  setting(
    'resume',
    'PENDING',
    'have a failed import go on behind the last row that was carried out',
  );

  withPlace(tasks.command('refused'))
    .description('write the rows of an import that were refused, as lines of JSON')
    .argument('<id>')
    .argument('<file>')
    .action((id: string, file: string, options: PlaceOptions) =>
      download(placeOf(options), id, file),
    );
}

const pathOf = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

function known(names: Readonly<Record<string, string>>, name: string, what: string): string {
  const value = names[name];
  if (value !== undefined) return value;
  throw new OperatorError(`${name} is no ${what}: it may be ${Object.keys(names).join(', ')}.`);
}

function importNamed(
  kind: string,
  file: string,
  options: ImportOptions,
  print: (line: string) => void,
): Promise<Task> {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const place = placeOf(options);
  const extension = options.type === undefined ? extname(file) : `.${options.type}`;
  const asked = {
    entity_type: known(entities, kind, 'kind of records'),
    file_type: known(types, extension.toLowerCase(), 'type of a file (--type)'),
    file_name: basename(file),
    on_existing: options.update ? 'update' : 'refuse',
  };
  let told = -1;
  return importFile(asked, createReadStream(file, { highWaterMark: partBytes }), {
    call: (method, path, body) => callApi(place, method, path, body === undefined ? {} : { body }),
    send: (path, part) => callApi(place, 'PUT', path, { bytes: part }),
    pause: () => pause(lookMilliseconds),
    onProgress: (task) => {
      if (task.processed_records === told) return;
      told = task.processed_records;
      print(`… ${described(task)}`);
    },
  });
}

/** Writes the rows that were refused to a file, as they come. */
async function download({ baseUrl, apiKey }: ApiPlace, id: string, file: string): Promise<void> {
  const response = await fetch(`${baseUrl}/v1${pathOf(id)}/download`, {
    headers: { 'x-api-key': apiKey },
  });
  if (!response.ok || !response.body) {
    throw new OperatorError(`${id} has no rows to download: ${await response.text()}`);
  }
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
}

const counted = (count: number): string => count.toLocaleString('en-US');

function described(task: Task): string {
  const { id, task_status, successful_records, failed_records, error_summary } = task;
  const counts = `${counted(successful_records)} carried out, ${counted(failed_records)} refused`;
  return `${id} ${task_status}: ${counts}${error_summary === undefined ? '' : `. ${error_summary}`}`;
}
