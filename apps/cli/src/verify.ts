import {
  categoryPrefix,
  createLog,
  type Difference,
  discardReadModel,
  openEventStore,
  rebuildReadModel,
  reservation,
  verifyChains,
  verifyReadModel,
} from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import type { ServerUrls } from './settings.ts';
import { verifyCheckpoints } from './verify-checkpoints.ts';

const slices = () => modules({ secrets: null });

/** Streams of everything that writes to the log, the engine's own reservations included. */
const allPrefixes = (): string[] =>
  [reservation, ...slices().flatMap(({ aggregates }) => aggregates)].map(({ name }) =>
    categoryPrefix(name),
  );

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));

const describeDifference = ({ table, id, kind, path, expected, actual }: Difference): string => {
  if (kind === 'missing') return `${table} ${id}: the row is missing`;
  if (kind === 'extra') return `${table} ${id}: the log knows no such row`;
  return `${table} ${id} ${path}: the log says ${shown(expected)}, the table ${shown(actual)}`;
};

/**
 * `counterfoil verify`: checks every hash chain, holds the log against the signed checkpoints and
 * derives every read-model row anew from the log. Prints what differs, first what is first, and a summary. True when nothing differs.
 */
export async function verify(urls: ServerUrls, print: (line: string) => void): Promise<boolean> {
  const store = openEventStore({ url: urls.eventStoreUrl });
  try {
    const chains = await verifyChains({ store, prefixes: allPrefixes() });
    for (const { stream, revision, fault } of chains.breaks) {
      print(`event ${stream}@${revision}: ${fault}`);
    }
    print(
      `log: ${chains.streams} streams, ${chains.events} events, ` +
        `${chains.breaks.length} broken chains, up to position ${chains.upTo}`,
    );
    if (!chains.complete) {
      print('The read models were not compared, because the log cannot be read to its end.');
      return false;
    }
    const signed = await verifyCheckpoints(store, print);
    const report = await verifyReadModel({
      store,
      database: urls.databaseUrl,
      tables: slices().flatMap(({ tables }) => tables),
      onDifference: (difference) => print(describeDifference(difference)),
    });
    for (const { table, reason } of report.skipped) print(`${table}: not compared, ${reason}`);
    print(
      `read models: ${report.rows} rows, ${report.differences.length}` +
        `${report.truncated ? ' or more' : ''} differences, at position ${report.position}`,
    );
    return (
      chains.breaks.length === 0 &&
      signed &&
      report.differences.length === 0 &&
      report.skipped.length === 0
    );
  } finally {
    await store.close();
  }
}

/** `counterfoil rebuild --discard`: throws all read models away; the next projector fills them. */
export const discard = (urls: ServerUrls): Promise<void> => discardReadModel(urls.databaseUrl);

/** `counterfoil rebuild`: fills read tables anew from the log while everything goes on. */
export async function rebuild(urls: ServerUrls, only: readonly string[]): Promise<void> {
  const store = openEventStore({ url: urls.eventStoreUrl });
  try {
    await rebuildReadModel({
      store,
      database: urls.databaseUrl,
      tables: slices().flatMap(({ tables }) => tables),
      log: createLog({ level: 'warn', name: 'rebuild' }),
      ...(only.length > 0 ? { only } : {}),
    });
  } finally {
    await store.close();
  }
}
