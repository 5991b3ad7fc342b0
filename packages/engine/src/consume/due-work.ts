import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { type Connection, connect } from '../database/database.ts';
import { statementsOn } from '../database/statements.ts';
import type { Streams } from '../decide/streams.ts';
import { systemContext } from '../decide/system-context.ts';
import type { DueWork } from '../define/due-work.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { ProjectedPosition } from '../projection/projected-position.ts';
import { inParallel, runForever } from './run-forever.ts';

/** Rows taken at once, commands under way at once, and rows that may be waiting after a failure. */
const limits = { rows: 500, concurrency: 32, failed: 10_000 } as const;
const defaultTickMilliseconds = 500;
/** The time that one round waits for the read model to show what it did. */
const settleMilliseconds = 10_000;
/** A row whose work failed is tried again after this. */
const retryMilliseconds = 30_000;

export interface DueWorkOptions {
  readonly database: string;
  readonly streams: Streams;
  readonly work: readonly DueWork[];
  readonly projected: ProjectedPosition;
  /** Tells whether this process does the work; the others stand by. */
  readonly isActive: () => boolean;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly tickMilliseconds?: number;
}

export interface DueWorkLoop {
  stop(): Promise<void>;
}

interface DueRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string | null;
  readonly revision: string;
  readonly due_at: string;
}

/**
 * Looks again and again for rows whose time has come and runs their work. Running twice changes
 * nothing, so neither a crash nor a second process needs care: what is left is found again.
 */
export function startDueWork(options: DueWorkOptions): DueWorkLoop {
  const stopping = new AbortController();
  const failed = new LRUCache<string, true>({ max: limits.failed, ttl: retryMilliseconds });
  const done = options.metrics?.counter({
    name: 'counterfoil_due_work_total',
    help: 'Work that became due and was done, by kind and outcome',
    labels: ['work', 'outcome'],
  });

  const failedOf = ({ name }: DueWork): readonly string[] =>
    [...failed.keys()]
      .filter((key) => key.startsWith(`${name} `))
      .map((key) => key.slice(name.length + 1));

  const runOne = async (
    work: DueWork,
    row: DueRow,
    onWritten: (position: Position) => void,
  ): Promise<void> => {
    const scope = {
      tenantId: row.tenant_id as TenantId,
      environmentId: (row.environment_id ?? row.tenant_id) as EnvironmentId,
      correlationId: `due ${work.name}`,
    };
    const context = systemContext(options.streams, scope, {
      // A row that still shows what has been done since leads to the same key, and so to nothing.
      occasion: {
        job: `due work ${work.name}`,
        key: `${row.id}@${row.revision} ${row.due_at}`,
        remembersEffectsOnly: true,
      },
      onWritten,
    });
    try {
      await work.run(context, row.id);
      done?.inc({ work: work.name, outcome: 'done' });
    } catch (error) {
      failed.set(`${work.name} ${row.id}`, true);
      done?.inc({ work: work.name, outcome: 'failed' });
      options.log.error({ err: error, work: work.name, id: row.id }, 'due work failed');
    }
  };

  /** One round over all kinds of work. Returns whether there may be more at once. */
  const round = async (connection: Connection): Promise<boolean> => {
    let hasMore = false;
    let furthest: Position = 0n;
    const noteWritten = (position: Position): void => {
      if (position > furthest) furthest = position;
    };
    for (const work of options.work) {
      const rows = await dueRows(connection, work, Date.now(), failedOf(work));
      hasMore ||= rows.length === limits.rows;
      await inParallel(rows, limits.concurrency, async (row) => {
        if (!stopping.signal.aborted) await runOne(work, row, noteWritten);
      });
      if (stopping.signal.aborted) return false;
    }
    // Rows that the read model does not show as done yet would only be looked at in vain.
    await options.projected.waitFor(furthest, settleMilliseconds, stopping.signal);
    // A full round that changed nothing looked at rows that the read model still shows as due.
    return hasMore && furthest > 0n;
  };

  const running = keepRounds(options, round, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function keepRounds(
  options: DueWorkOptions,
  round: (connection: Connection) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const tick = options.tickMilliseconds ?? defaultTickMilliseconds;
  let connection: Connection | null = null;
  const takeTurn = async (): Promise<number> => {
    if (!options.isActive()) return tick;
    connection ??= await connect(options.database, { application: 'counterfoil due work' });
    try {
      return (await round(connection)) ? 0 : tick;
    } catch (error) {
      await connection.close();
      connection = null;
      throw error;
    }
  };
  await runForever(takeTurn, { name: 'due work', log: options.log, signal });
  await (connection as Connection | null)?.close();
}

/** Rows that are due, without those that have just failed: many of them must not block the others. */
async function dueRows(
  connection: Connection,
  { table, column }: DueWork,
  now: number,
  failed: readonly string[],
): Promise<readonly DueRow[]> {
  const due = sql.ref<string>(column);
  const { rows } = await connection.run(
    statementsOn<Record<string, DueRow>>()
      .selectFrom(table.name)
      .select(['id', 'tenant_id', 'environment_id', 'revision', due.as('due_at')])
      .where(due, '<=', new Date(now).toISOString())
      .where(sql<boolean>`id <> all(${failed}::text[])`)
      .orderBy(due)
      .limit(limits.rows),
  );
  return rows;
}
