import type { AskingContext, CommandContext, StreamedReads } from '@counterfoil/engine/define';
import { existing, Problem } from '@counterfoil/kernel';
import type { Sealer, TargetPolicy } from '@counterfoil/webhooks';
import { connection, s3CredentialsOf } from '../connections/index.ts';
import {
  completeRun,
  type ExportRun,
  exportRun,
  failAttempt,
  giveUp,
  isCurrent,
  noteRows,
  scheduledTask,
  startAttempt,
} from '../scheduled-tasks/index.ts';
import type { ChargesOf } from '../usage/index.ts';
import { type Destination, StorageFailed } from './destinations/destination.ts';
import { folderDestination } from './destinations/folder-store.ts';
import { exportSources } from './sources/index.ts';
import { AttemptOvertaken, type Completed, writeExport } from './write-export.ts';

/** Reads of one state of the tables, to be closed. */
interface OpenReads extends StreamedReads {
  close(): Promise<void>;
}

/** Everything that a run is carried out with. */
export interface ExportTools {
  /** Opens the credentials of connections; null in a process without the secret key. */
  readonly sealer: Sealer | null;
  readonly policy: TargetPolicy;
  /** The folder of exports that stay on the machine; null where the operator has given none. */
  readonly folder: string | null;
  readonly chargesOf: ChargesOf;
  readonly context: AskingContext & Pick<CommandContext, 'execute'>;
  /** Opens reads once the tables show a place in the log. Null while they do not. */
  readonly open: (needed: {
    readonly position: string;
    readonly tables: readonly string[];
    readonly needsUsage: boolean;
  }) => Promise<OpenReads | null>;
  readonly signal: AbortSignal;
  /** Told about a failure that no caller has caused. */
  readonly onFault: (error: unknown) => void;
}

/** Rows between two notes of progress. */
const progressRows = 250_000;

/**
 * The outcome of an attempt. `early`: the tables do not show the window yet, or the attempt has to wait. `overtaken`: another one was
 * begun meanwhile. `ended`: the run needs no attempt any more.
 */
export type AttemptOutcome = 'completed' | 'failed' | 'early' | 'overtaken' | 'ended';

/**
 * Makes an attempt at a run: waits for nothing, writes the file and the manifest, and records how it went. Safe to repeat: what
 * is there already is found there.
 */
export async function carryOutRun(tools: ExportTools, id: string): Promise<AttemptOutcome> {
  const { context } = tools;
  const planned = await context.load(exportRun, id);
  if (!planned?.is_open) return 'ended';
  const task = await context.load(scheduledTask, planned.scheduled_task_id);
  if (task?.status !== 'published') {
    await context.execute(exportRun, id, giveUp('The scheduled task was deleted.'));
    return 'ended';
  }
  // What was closed before a pause waits for its end.
  if (planned.is_scheduled && !task.enabled) return 'early';
  const source = exportSources[planned.entity_type];
  const { tables, needsUsage } = source;
  const reads = await tools.open({ position: planned.position, tables, needsUsage });
  if (reads === null) return 'early';
  try {
    const { state, events } = await context.execute(exportRun, id, startAttempt);
    if (events.length === 0) return 'early';
    return await attempt(tools, existing(state, 'run of an export'), reads);
  } finally {
    await reads.close();
  }
}

async function attempt(
  tools: ExportTools,
  run: ExportRun,
  reads: OpenReads,
): Promise<AttemptOutcome> {
  const { context, signal } = tools;
  try {
    const completed = await written(tools, run, reads);
    const { events } = await context.execute(
      exportRun,
      run.id,
      completeRun(run.attempts, completed),
    );
    return events.length > 0 ? 'completed' : 'overtaken';
  } catch (error) {
    if (error instanceof AttemptOvertaken) return 'overtaken';
    // The process ends: another one makes the attempt anew.
    if (signal.aborted) throw error;
    const { message, isFinal } = shownOf(tools, error);
    await context.execute(exportRun, run.id, failAttempt(run.attempts, message, isFinal));
    return 'failed';
  }
}

async function written(
  { context, chargesOf, signal, ...tools }: ExportTools,
  run: ExportRun,
  reads: OpenReads,
): Promise<Completed> {
  const source = exportSources[run.entity_type];
  const from = { run, reads, context, chargesOf };
  const columns = source.columns(run.job_config.export_metadata_fields);
  const destination = await destinationOf({ ...tools, context }, run);
  let noted = 0;
  let noting = Promise.resolve<unknown>(undefined);
  const onRows = (rows: number): void => {
    if (rows < noted + progressRows) return;
    noted = rows;
    noting = noting
      .then(() => context.execute(exportRun, run.id, noteRows(run.attempts, rows)))
      .catch(tools.onFault);
  };
  try {
    return await writeExport(destination, {
      run,
      columns,
      summed: source.summed(columns),
      rows: { [Symbol.asyncIterator]: () => source.rows(from) },
      late: () => source.late(from),
      onRows,
      onLeft: tools.onFault,
      isCurrent: async () => isCurrent(await context.load(exportRun, run.id), run.attempts),
      signal,
    });
  } finally {
    await noting;
    destination.close();
  }
}

async function destinationOf(
  {
    context,
    sealer,
    policy,
    folder,
  }: Pick<ExportTools, 'context' | 'sealer' | 'policy' | 'folder'>,
  run: ExportRun,
): Promise<Destination> {
  const found = existing(await context.load(connection, run.connection_id), 'connection');
  const { job_config: config } = run;
  switch (found.provider_type) {
    case 's3': {
      if (sealer === null) {
        throw new StorageFailed('The exporter has no secret key to open credentials with.', true);
      }
      // Loaded only where something is sent there.
      const { s3Destination } = await import('./destinations/s3-store.ts');
      return s3Destination({ config, credentials: s3CredentialsOf(found, sealer), policy });
    }
    case 'local_folder': {
      if (folder === null) {
        throw new StorageFailed(
          'The installation has no folder for exports (EXPORT_FOLDER).',
          true,
        );
      }
      const { tenant_id: tenantId, environment_id: environmentId } = run;
      return folderDestination({ root: folder, tenantId, environmentId, bucket: config.bucket });
    }
    default:
      return found.provider_type satisfies never;
  }
}

/** The words of a failure that whoever has the task may see: nothing of the inside. */
function shownOf({ onFault }: Pick<ExportTools, 'onFault'>, error: unknown) {
  if (error instanceof StorageFailed) return { message: error.message, isFinal: error.isFinal };
  if (error instanceof Problem) {
    return { message: error.message, isFinal: error.code === 'invalid_operation' };
  }
  onFault(error);
  return {
    message: 'An internal error, which the log of the exporter tells more of.',
    isFinal: false,
  };
}
