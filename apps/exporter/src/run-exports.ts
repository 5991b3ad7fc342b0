import {
  type Connection,
  connect,
  messageOf,
  openStreamedReads,
  planByIndex,
  runForever,
  type Streams,
  workContext,
} from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  type AttemptOutcome,
  carryOutRun,
  chargesOf,
  type ExportTools,
  usageTables,
} from '@counterfoil/modules';
import { type OpenRun, openRuns } from './open-runs.ts';
import { openRunReads, type RunReads, type RunReadsOptions } from './run-reads.ts';

export interface RunExportsOptions
  extends Pick<ExportTools, 'sealer' | 'policy' | 'folder'>,
    RunReadsOptions {
  readonly streams: Streams;
  readonly isRight: () => Promise<boolean>;
  readonly onOutcome: (outcome: AttemptOutcome) => void;
}

/** The carrying out of runs. */
export interface Exporting {
  /** Throws the reason why runs cannot be looked for at present. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs at once. Each has a session of the database, and some megabytes of parts that are under way. */
const runsAtOnce = 2;
/** Between two looks for work: somebody may wait for a run by hand. */
const tickMilliseconds = 250;
/** After the session was lost. */
const againMilliseconds = 1_000;
/** A run that could not begin is looked at again after this. */
const restMilliseconds = 3_000;
/** A run that has ended is left out so long: by then the table shows it, or it is looked at once more. */
const endedMilliseconds = 30_000;
/** The lock of the one exporter that is active: the ASCII of `export`. */
const lockKey = 0x65_78_70_6f_72_74n;

/**
 * Carries out runs as they come, one after the other of each scheduled task, until it is stopped. Of several exporters
 * one is active: the one whose session holds a lock of the database.
 */
export function runExports(options: RunExportsOptions): Exporting {
  const stopping = new AbortController();
  const { signal } = stopping;
  let failure: string | null = 'Runs have not been looked for yet.';
  const onFailure = (error: unknown): undefined => {
    failure = messageOf(error);
  };
  const underWay = new Map<string, UnderWay>();
  /** Runs that could not begin, with the time until which they rest, so that others have their turn. */
  const resting = new Map<string, number>();
  /** Runs that have ended. The table may show them a little longer, and the next window of the task need not wait for that. */
  const endedRuns = new Map<string, number>();

  /** Begins runs while there is room for them: one of a tenant at once, so that nobody waits behind all of another. */
  const begin = (runs: readonly OpenRun[], over: AbortSignal): void => {
    for (const run of runs) {
      if (underWay.size >= runsAtOnce) return;
      const tenants = [...underWay.values()].map(({ tenantId }) => tenantId);
      if (underWay.has(run.id) || tenants.includes(run.tenant_id)) continue;
      const ended = carryOut(options, run, over).then((outcome) => {
        underWay.delete(run.id);
        const now = performance.now();
        if (outcome === 'completed' || outcome === 'ended') {
          endedRuns.set(run.id, now + endedMilliseconds);
        } else resting.set(run.id, now + restMilliseconds);
      });
      underWay.set(run.id, { tenantId: run.tenant_id, ended });
    }
  };

  const turn = async (): Promise<number> => {
    const connection = await connect(options.database, { application: 'counterfoil exporter' });
    const over = AbortSignal.any([signal, connection.lost]);
    let isActive = false;
    try {
      await connection.query(planByIndex);
      for (;;) {
        isActive ||= await isLocked(connection);
        if (over.aborted) return againMilliseconds;
        if (isActive && (await options.isRight())) {
          const known = { resting: keptOf(resting), ended: keptOf(endedRuns) };
          begin(await openRuns(connection, known), over);
        }
        failure = null;
        await settled(underWay, over);
        if (over.aborted) return againMilliseconds;
      }
    } finally {
      if (connection.lost.aborted) onFailure(connection.lost.reason);
      await Promise.allSettled([...underWay.values()].map(({ ended }) => ended));
      await connection.close();
    }
  };

  const running = runForever(turn, { name: 'exports', log: options.log, signal, onFailure });
  return {
    check: async () => {
      if (failure !== null) throw new Error(failure);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** The ids whose time is not over; the others are forgotten. */
function keptOf(times: Map<string, number>): readonly string[] {
  const now = performance.now();
  for (const [id, until] of times) if (until <= now) times.delete(id);
  return [...times.keys()];
}

/** A run that is carried out. */
interface UnderWay {
  readonly tenantId: string;
  readonly ended: Promise<void>;
}

/** Takes the lock of the active exporter for the session. False while another one has it. */
async function isLocked(connection: Connection): Promise<boolean> {
  const { rows } = await connection.query<{ readonly is_ours: boolean }>(
    'select pg_try_advisory_lock($1::bigint) as is_ours',
    [String(lockKey)],
  );
  return rows[0]?.is_ours ?? false;
}

/** Resolves when a run has ended, at the next look, or when all is over. */
async function settled(underWay: ReadonlyMap<string, UnderWay>, over: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, tickMilliseconds);
  const stop = () => resolve();
  over.addEventListener('abort', stop, { once: true });
  for (const { ended } of underWay.values()) void ended.then(stop, stop);
  await promise;
  clearTimeout(timer);
  over.removeEventListener('abort', stop);
}

/** Makes an attempt at a run. It never rejects: what fails by itself is tried again. */
async function carryOut(
  options: RunExportsOptions,
  run: OpenRun,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { log, onOutcome } = options;
  try {
    const reads = await openRunReads(options, signal);
    try {
      const outcome = await carryOutRun(toolsOf(options, run, reads, signal), run.id);
      onOutcome(outcome);
      return outcome;
    } finally {
      await reads.close();
    }
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error, run: run.id }, 'an export is tried again');
    return 'early';
  }
}

/** The tools by which a run is carried out, given its reads. */
function toolsOf(
  { database, streams, log, sealer, policy, folder }: RunExportsOptions,
  { id, tenant_id, environment_id, position }: OpenRun,
  { reader, factsOf, schemaOf, shownIn }: RunReads,
  signal: AbortSignal,
): ExportTools {
  const place = {
    tenantId: tenant_id as TenantId,
    environmentId: environment_id as EnvironmentId,
  };
  const upTo = BigInt(position);
  const context = workContext(
    streams,
    { ...place, correlationId: 'exports' },
    // The tables of usage are waited for once, before the reads are opened.
    { reader: (of) => reader(of, { atLeast: upTo }), factsOf: (of) => factsOf(of, null) },
  );
  const open: ExportTools['open'] = async (needed) => {
    const from = BigInt(needed.position);
    if (needed.tables.some((table) => shownIn(table) < from)) return null;
    if (needed.needsUsage) await factsOf(place, from).shown(usageTables);
    return openStreamedReads({ url: database, place, schemaOf });
  };
  const onFault = (error: unknown) => log.error({ err: error, run: id }, 'an export has a fault');
  return { context, sealer, policy, folder, chargesOf, open, signal, onFault };
}
