import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ask, type PlaceOptions, withPlace } from '../api-options.ts';
import { OperatorError } from '../settings.ts';
import { type ImportReport, reportLines } from './report.ts';

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
      const document = await ask(options, 'GET', '/catalog/export');
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
        const report = await ask<ImportReport>(options, 'POST', '/catalog/import', body);
        for (const line of reportLines(report)) print(line);
        if (report.refused.length > 0) process.exitCode = 1;
      });

  importing('diff', true, 'say what an import of a file would change');
  importing('import', false, 'make the catalogue as a file says, all or nothing');
}

function readDocument(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${file} cannot be read as JSON: ${reason}`);
  }
}
