import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { StopReason } from './apply-batch.ts';
import type { ActiveTable } from './table-registry.ts';

/** The progress of one filling of a read table. */
export interface TableStatus {
  readonly name: string;
  readonly version: number;
  readonly generation: number;
  /** `building`: not shown to readers yet. `stopped`: it met an event that it cannot take. */
  readonly status: 'building' | 'live' | 'stopped';
  /** True when it has to catch up with the others first. */
  readonly behind: boolean;
  readonly position: Position;
  readonly error: StopReason | null;
}

export type ProjectorState =
  /** Connecting, or preparing the tables. */
  | 'starting'
  /** Another projector is at work on this database. */
  | 'standby'
  | 'running'
  /** Postgres or the event store is away; it tries again by itself. */
  | 'retrying'
  /** It must not go on (foreign log, unreadable event, changed columns); it looks again now and then. */
  | 'refused'
  | 'ended';

export interface ProjectorStatus {
  readonly state: ProjectorState;
  /** The reason why it is retrying or refusing. */
  readonly error: string | null;
  /** The error behind that reason; null without one. */
  readonly failure: unknown;
  readonly position: Position;
  /** True when everything that was in the log has been projected at least once since the start. */
  readonly caughtUp: boolean;
  readonly tables: readonly TableStatus[];
}

/** The state of a projector, for `status()`, the log and the metrics. */
export class StatusBoard {
  state: ProjectorState = 'starting';
  failure: unknown = null;
  position: Position = 0n;
  caughtUp = false;
  readonly log: Log;
  readonly #tables = new Map<string, TableStatus>();
  readonly #instruments: ReturnType<typeof instrumentsOf> | null;

  constructor(log: Log, metrics?: Metrics) {
    this.log = log;
    this.#instruments = metrics ? instrumentsOf(metrics, this) : null;
  }

  get tables(): readonly TableStatus[] {
    return [...this.#tables.values()];
  }

  clearTables(): void {
    this.#tables.clear();
  }

  setTable(table: ActiveTable, behind: boolean): void {
    const { name, version, generation, position, serving, relation } = table;
    const status = serving ? 'live' : 'building';
    const entry = { name, version, generation, status, behind, position, error: null } as const;
    this.#tables.set(relation, entry);
  }

  stopTable(table: ActiveTable, error: StopReason): void {
    const { name, version, generation, position, relation } = table;
    this.log.error({ table: name, version, reason: error }, 'read table stopped');
    const entry = { name, version, generation, status: 'stopped', behind: true } as const;
    this.#tables.set(relation, { ...entry, position, error });
  }

  /** Forgets all other fillings of a table, also those that had stopped. */
  keepOnly({ name, relation }: ActiveTable): void {
    for (const [other, status] of this.#tables) {
      if (status.name === name && other !== relation) this.#tables.delete(other);
    }
  }

  removeTable(relation: string): void {
    this.#tables.delete(relation);
  }

  countBatch(events: number, seconds: number): void {
    this.#instruments?.events.inc(events);
    this.#instruments?.seconds.observe(seconds);
  }

  countStatement(isCommit: boolean): void {
    this.#instruments?.statements.inc();
    if (isCommit) this.#instruments?.commits.inc();
  }

  countRetry(): void {
    this.#instruments?.retries.inc();
  }
}

function instrumentsOf(metrics: Metrics, board: StatusBoard) {
  metrics.gauge({
    name: 'counterfoil_projector_position',
    help: 'Position of the log up to which the read models are filled.',
    collect: (gauge) => gauge.set(Number(board.position)),
  });
  metrics.gauge({
    name: 'counterfoil_projector_active',
    help: '1 while this process is the one that fills the read models.',
    collect: (gauge) => gauge.set(board.state === 'running' ? 1 : 0),
  });
  metrics.gauge({
    name: 'counterfoil_projector_tables',
    help: 'Read tables by status.',
    labels: ['status'],
    collect: (gauge) => {
      for (const status of ['building', 'live', 'stopped'] as const) {
        const count = board.tables.filter((table) => table.status === status).length;
        gauge.set({ status }, count);
      }
    },
  });
  return {
    events: metrics.counter({
      name: 'counterfoil_projector_events_total',
      help: 'Events handed to the read tables, catching up included.',
    }),
    retries: metrics.counter({
      name: 'counterfoil_projector_retries_total',
      help: 'Times that the projector had to start over.',
    }),
    statements: metrics.counter({
      name: 'counterfoil_projector_statements_total',
      help: 'Statements that the projector has sent to PostgreSQL.',
    }),
    commits: metrics.counter({
      name: 'counterfoil_projector_commits_total',
      help: 'Transactions of the projector, statements outside of one among them.',
    }),
    seconds: metrics.histogram({
      name: 'counterfoil_projector_batch_seconds',
      help: 'Time from a batch to its commit.',
    }),
  };
}
