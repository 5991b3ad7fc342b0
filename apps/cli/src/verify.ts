import {
  type ChainCheck,
  type ChainReport,
  categoryPrefix,
  connect,
  createChainCheck,
  createLog,
  type Difference,
  discardReadModel,
  type EventStore,
  type FactReport,
  type LogWitness,
  openEventStore,
  rebuildFacts,
  rebuildReadModel,
  reservation,
  UnreadableEvent,
  type VerifyReport,
  verifyFacts,
  verifyReadModel,
} from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import {
  type CheckpointCheck,
  type CheckpointReport,
  createCheckpointCheck,
} from '@counterfoil/projector/checkpoints';
import type { ServerUrls } from './settings.ts';

const slices = () => modules({ secrets: null });

/** The names of all that `rebuild` fills again: the read tables of records, and the tables of facts. */
export const rebuilt = () => ({
  records: slices().flatMap(({ tables }) => tables.map(({ name }) => name)),
  facts: factTables().map(({ name }) => name),
});

const factTables = () => slices().flatMap(({ facts }) => facts ?? []);

/** Streams of everything that writes to the log, the engine's own reservations and the facts included. */
const allPrefixes = (): string[] => [
  ...[reservation, ...slices().flatMap(({ aggregates }) => aggregates)].map(({ name }) =>
    categoryPrefix(name),
  ),
  ...factTables().map(({ intake }) => categoryPrefix(intake.name)),
];

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));

const describeDifference = ({ table, id, kind, path, expected, actual }: Difference): string => {
  if (kind === 'missing') return `${table} ${id}: the row is missing`;
  if (kind === 'extra') return `${table} ${id}: the log knows no such row`;
  return `${table} ${id} ${path}: the log says ${shown(expected)}, the table ${shown(actual)}`;
};

/**
 * `counterfoil verify`: checks every hash chain, compares the log with the signed checkpoints and derives
 * every read-model row again, in one reading of the log. Prints the differences in order, and a summary.
 * True when nothing differs. The log is checked even when the read models cannot be; then it throws the
 * reason.
 */
export async function verify(urls: ServerUrls, print: (line: string) => void): Promise<boolean> {
  const store = openEventStore({ url: urls.eventStoreUrl });
  // Facts keep the database busy, and rows this program.
  const facts = compareFacts(store, urls.databaseUrl);
  // It may fail while the log is still read, which finds the same event and says more of it.
  facts.catch(() => undefined);
  try {
    const log = await checkLog(store);
    const compared = await compareWhile(log, store, urls.databaseUrl);
    const chainsHold = printChains(log.chains.report(compared.unreadable), print);
    if (compared.unreadable) {
      print('The read models were not compared, because the log cannot be read to its end.');
      return false;
    }
    const checkpointsHold = printCheckpoints(log.checkpoints.report(), print);
    if (!compared.report) throw compared.failure;
    const rowsHold = printComparison(compared.report, print);
    const factsHold = printFacts(await facts, print);
    return rowsHold && factsHold && chainsHold && checkpointsHold;
  } finally {
    await Promise.allSettled([facts]);
    await store.close();
  }
}

/** The check of the log, which sees each event by itself. */
interface LogCheck extends LogWitness {
  readonly chains: ChainCheck;
  readonly checkpoints: CheckpointCheck;
}

async function checkLog(store: EventStore): Promise<LogCheck> {
  const chains = createChainCheck();
  const checkpoints = await createCheckpointCheck(store);
  return {
    chains,
    checkpoints,
    prefixes: allPrefixes(),
    take(event) {
      chains.take(event);
      checkpoints.take(event);
    },
  };
}

interface Outcome {
  readonly report?: VerifyReport;
  readonly unreadable?: UnreadableEvent;
  /** The reason why there is no report. */
  readonly failure?: unknown;
}

/** Compares the read models and shows the log check every event on the way. */
async function compareWhile(log: LogCheck, store: EventStore, database: string): Promise<Outcome> {
  const tables = slices().flatMap((slice) => slice.tables);
  try {
    return { report: await verifyReadModel({ store, database, tables, witness: log }) };
  } catch (failure) {
    if (failure instanceof UnreadableEvent) return { unreadable: failure };
    return { failure, ...(await readRest(log, store)) };
  }
}

/** Shows the log check the rest of the events, when the read models could not be compared. */
async function readRest(log: LogCheck, store: EventStore): Promise<Outcome> {
  const after = log.chains.report().upTo;
  const read = { prefixes: log.prefixes, after, upTo: await store.head() };
  try {
    for await (const event of store.readLog(read)) log.take(event);
    return {};
  } catch (error) {
    if (error instanceof UnreadableEvent) return { unreadable: error };
    throw error;
  }
}

type Print = (line: string) => void;

function printChains({ streams, events, upTo, breaks }: ChainReport, print: Print): boolean {
  for (const { stream, revision, fault } of breaks) print(`event ${stream}@${revision}: ${fault}`);
  const broken = `${breaks.length} broken chains, up to position ${upTo}`;
  print(`log: ${streams} streams, ${events} events, ${broken}`);
  return breaks.length === 0;
}

function printCheckpoints({ signed, lost, unreadable }: CheckpointReport, print: Print): boolean {
  for (const reason of unreadable) print(`checkpoints cannot be read: ${reason}`);
  for (const { id, position } of lost) {
    print(`checkpoint ${id}: the log up to position ${position} is not what was signed`);
  }
  print(`checkpoints: ${signed} signed, ${lost.length} no longer hold`);
  return lost.length === 0 && unreadable.length === 0;
}

function printComparison(report: VerifyReport, print: Print): boolean {
  const { differences, skipped } = report;
  for (const difference of differences) print(describeDifference(difference));
  for (const { table, reason } of skipped) print(`${table}: not compared, ${reason}`);
  const count = `${differences.length}${report.truncated ? ' or more' : ''} differences`;
  print(`read models: ${report.rows} rows, ${count}, at position ${report.position}`);
  return differences.length === 0 && skipped.length === 0;
}

/** The comparison of some tables of facts; null where readers see none of this version yet. */
type ComparedFacts = ReadonlyMap<string, FactReport | null>;

/** Derives the tables of facts again and compares them, one kind after the other. */
async function compareFacts(store: EventStore, database: string): Promise<ComparedFacts> {
  const connection = await connect(database, { application: 'counterfoil verify', copies: true });
  const reports = new Map<string, FactReport | null>();
  try {
    for (const tables of factTables()) {
      reports.set(tables.name, await verifyFacts({ store, connection, tables }));
    }
    return reports;
  } finally {
    await connection.close();
  }
}

/** True when nothing differs, and everything was compared. */
function printFacts(reports: ComparedFacts, print: Print): boolean {
  for (const [name, report] of reports) {
    if (!report) {
      print(`${name}: not compared, its tables are being filled`);
      continue;
    }
    for (const part of report.leftOut)
      print(`${name} ${part}: not compared, its facts are dropped`);
    for (const difference of report.differences) print(`${name} ${difference}`);
    const count = `${report.differences.length} differences`;
    print(`${name}: ${report.rows} rows, ${count}, at position ${report.position}`);
  }
  return [...reports.values()].every((report) => report?.differences.length === 0);
}

/** `counterfoil rebuild --discard`: deletes all read models; the next projector fills them. */
export const discard = (urls: ServerUrls): Promise<void> => discardReadModel(urls.databaseUrl);

/** `counterfoil rebuild`: refills read tables from the log while everything keeps running. */
export async function rebuild(urls: ServerUrls, only: readonly string[]): Promise<void> {
  const store = openEventStore({ url: urls.eventStoreUrl });
  const common = {
    store,
    database: urls.databaseUrl,
    log: createLog({ level: 'warn', name: 'rebuild' }),
  };
  const isWanted = ({ name }: { readonly name: string }) =>
    only.length === 0 || only.includes(name);
  const facts = factTables().filter(isWanted);
  const records = only.filter((name) => !facts.some((tables) => tables.name === name));
  try {
    const rebuilding = [
      ...(only.length === 0 || records.length > 0
        ? [
            rebuildReadModel({
              ...common,
              tables: slices().flatMap(({ tables }) => tables),
              ...(records.length > 0 ? { only: records } : {}),
            }),
          ]
        : []),
      ...(facts.length > 0 ? [rebuildFacts({ ...common, tables: facts })] : []),
    ];
    await Promise.allSettled(rebuilding);
    await Promise.all(rebuilding);
  } finally {
    await store.close();
  }
}
