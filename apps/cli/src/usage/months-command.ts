import {
  askParts,
  createLog,
  openEventStore,
  type PartWish,
  type ShownPart,
  shownParts,
  systemClock,
} from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import type { Command } from 'commander';
import { OperatorError, readSettings, type ServerUrls, serverUrls } from '../settings.ts';
import { chosenMonths, describedMonth } from './months.ts';

type Print = (line: string) => void;

/** Adds `months | drop | refill` to the commands of usage: of whoever operates the servers, for all tenants together. */
export function addMonthsCommands(usage: Command, print: Print): void {
  usage
    .command('months')
    .description('print the months of usage, and which of them are kept event by event')
    .action(async () => {
      for (const part of await partsOf(serverUrls(readSettings()))) print(describedMonth(part));
    });
  usage
    .command('drop')
    .description(
      'keep the usage of months no longer event by event, while everything keeps running',
    )
    .argument('<months...>', 'such as 2026-03')
    .action((months: string[]) => carryOut(months, 'dropped', print));
  usage
    .command('refill')
    .description('bring dropped months back from the log, while everything keeps running')
    .argument('<months...>', 'such as 2026-03')
    .action((months: string[]) => carryOut(months, 'kept', print));
}

/** The tables that have months. */
function tablesOfUsage() {
  const tables = modules({ secrets: null })
    .flatMap(({ facts }) => facts ?? [])
    .find(({ name }) => name === 'usage');
  if (!tables) throw new Error('There are no tables of usage.');
  return tables;
}

async function partsOf({ databaseUrl }: ServerUrls): Promise<readonly ShownPart[]> {
  const parts = await shownParts(databaseUrl, tablesOfUsage());
  if (parts) return parts;
  throw new OperatorError('The tables of usage are being filled. Try again when they are.');
}

async function carryOut(names: readonly string[], wish: PartWish, print: Print): Promise<void> {
  const urls = serverUrls(readSettings());
  const endedAt = wish === 'dropped' ? systemClock.now('') : undefined;
  const months = chosenMonths(names, await partsOf(urls), endedAt);
  const store = openEventStore({ url: urls.eventStoreUrl });
  try {
    await askParts({
      store,
      database: urls.databaseUrl,
      tables: tablesOfUsage(),
      names: months,
      wish,
      log: createLog({ level: 'warn', name: 'usage' }),
      onProblem: (month, problem) => print(`… ${month}: ${problem}`),
    });
  } finally {
    await store.close();
  }
  print(`${wish === 'dropped' ? 'Dropped' : 'Refilled'}: ${months.join(', ')}.`);
}
