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
import { OperatorError, readSettings, type ServerUrls, serverUrls } from '../settings.ts';
import { chosenMonths, describedMonth } from './months.ts';

type Print = (line: string) => void;

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

/** Prints the months, and which of them are kept event by event. Throws `OperatorError` when nobody can tell yet. */
export async function showMonths(print: Print): Promise<void> {
  for (const part of await partsOf(serverUrls(readSettings()))) print(describedMonth(part));
}

/** Drops months or brings them back, and returns when it is done. Throws `OperatorError` for what is none of the months. */
export async function changeMonths(
  names: readonly string[],
  wish: PartWish,
  print: Print,
): Promise<void> {
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
