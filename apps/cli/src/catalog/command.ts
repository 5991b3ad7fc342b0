import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ApiPlace, bodyOf, callApi } from '../http-api.ts';
import { demoKeyOf, OperatorError, readDemo, readSettings } from '../settings.ts';
import { type ImportReport, reportLines } from './report.ts';

interface PlaceOptions {
  readonly url?: string;
  readonly key?: string;
}

interface ImportOptions extends PlaceOptions {
  readonly prune: boolean;
}

/** Adds `catalog export | diff | import` to the program. */
export function addCatalogCommand(program: Command, print: (line: string) => void): void {
  const catalog = program
    .command('catalog')
    .description('the catalogue of an environment as a file: out, in, and what would change');

  withPlace(catalog.command('export'))
    .description('write the catalogue as JSON without ids, always in the same order')
    .option('--file <path>', 'where to write it; by default the standard output')
    .action(async ({ file, ...options }: PlaceOptions & { readonly file?: string }) => {
      const document = bodyOf(await callApi(placeOf(options), 'GET', '/catalog/export'));
      const text = JSON.stringify(document, null, 2);
      if (file === undefined) print(text);
      else writeFileSync(file, `${text}\n`);
    });

  const importing = (name: string, isTrial: boolean, description: string) =>
    withPlace(catalog.command(name))
      .description(description)
      .argument('<file>')
      .option('--prune', 'archive or end what the file does not name', false)
      .action(async (file: string, { prune, ...options }: ImportOptions) => {
        const body = { document: readDocument(file), dry_run: isTrial, prune };
        const answer = await callApi(placeOf(options), 'POST', '/catalog/import', { body });
        const report = bodyOf(answer) as ImportReport;
        for (const line of reportLines(report)) print(line);
        if (report.refused.length > 0) process.exitCode = 1;
      });

  importing('diff', true, 'say what an import of a file would change');
  importing('import', false, 'make the catalogue as a file says, all or nothing');
}

const withPlace = (command: Command): Command =>
  command
    .option('--url <url>', 'of the API; by default that of the running local installation')
    .option('--key <key>', 'API key of the environment; by default that of the demo tenant');

/** The installation that the options name, else the one that `counterfoil up` has left in the data folder. */
function placeOf({ url, key }: PlaceOptions): ApiPlace {
  if ((url === undefined) !== (key === undefined)) {
    throw new OperatorError('--url and --key belong together.');
  }
  if (url !== undefined && key !== undefined) return { baseUrl: url, apiKey: key };
  const demo = readDemo(readSettings().COUNTERFOIL_DATA);
  if (demo) return { baseUrl: demo.base_url, apiKey: demoKeyOf(demo) };
  throw new OperatorError('There is no running installation here: give --url and --key.');
}

function readDocument(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${file} cannot be read as JSON: ${reason}`);
  }
}
