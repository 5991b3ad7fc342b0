import { BrokenInvariant } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { messageOf, runForever, sleep } from '../consume/run-forever.ts';
import { type Connection, connect } from '../database/database.ts';
import { statements } from '../database/statements.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { ForeignLog } from './log-identity.ts';
import { PositionClock, type ProjectedPosition } from './projected-position.ts';
import { type ProjectorStatus, StatusBoard } from './projector-status.ts';
import { type ProjectorOptions, Session, type SessionOptions } from './session.ts';
import { assertProjection } from './table-shape.ts';

export interface Projector {
  status(): ProjectorStatus;
  /** The position that this projector has reached; stands still while another one is active. */
  readonly projected: ProjectedPosition;
  /** Throws, with a sentence for operators, unless the read models are kept up to date. */
  check(): Promise<void>;
  /** Finishes the batch under way and gives up the lock. */
  stop(): Promise<void>;
}

const lockPollMilliseconds = 250;
const retry = { firstMilliseconds: 200, lastMilliseconds: 10_000 } as const;
/** Per database: advisory locks do not reach beyond it. */
const projectorLock = 'counterfoil projector';

/**
 * Starts to keep the read models up to date with the log, and runs until it is stopped: over
 * losses of Postgres and of the event store it retries for ever, with back-off. Of all
 * projectors on one database one is active; the others stand by and take over.
 */
export function startProjector(options: ProjectorOptions): Projector {
  for (const table of options.tables) assertProjection(table);
  const names = new Set(options.tables.map(({ name }) => name));
  if (names.size < options.tables.length) throw new BrokenInvariant('two read tables of one name');
  const board = new StatusBoard(options.log, options.metrics);
  const clock = new PositionClock();
  const stopping = new AbortController();
  const { signal } = stopping;
  const turn = async (progressed: () => void): Promise<number> => {
    await runOnce(options, { board, clock, progressed }, signal);
    return retry.firstMilliseconds;
  };
  const onFailure = (error: unknown) => noteFailure(board, error);
  const { log } = options;
  const running = runForever(turn, { name: 'projector', log, signal, backOff: retry, onFailure });
  return {
    projected: clock,
    status: () => ({
      state: board.state,
      error: board.failure === null ? null : messageOf(board.failure),
      failure: board.failure,
      position: board.position,
      caughtUp: board.caughtUp,
      tables: board.tables,
    }),
    check: async () => checkBoard(board),
    async stop() {
      stopping.abort();
      await running;
      board.state = 'ended';
      clock.close();
    },
  };
}

function checkBoard(board: StatusBoard): void {
  if (board.state === 'standby' || board.state === 'ended') return;
  if (board.state !== 'running') {
    throw new Error(
      board.failure === null ? 'The projector is starting.' : messageOf(board.failure),
    );
  }
  const stopped = board.tables.find(({ status }) => status === 'stopped');
  if (stopped) {
    const { stream, revision, message } = stopped.error ?? {};
    throw new Error(`Read table ${stopped.name} stopped at ${stream}@${revision}: ${message}`);
  }
}

async function runOnce(
  options: ProjectorOptions,
  { board, clock, progressed }: Pick<SessionOptions, 'board' | 'clock' | 'progressed'>,
  signal: AbortSignal,
): Promise<void> {
  const connection = await connect(options.database, {
    application: 'counterfoil projector',
    onStatement: (isCommit) => board.countStatement(isCommit),
  });
  try {
    if (!(await acquireLock(connection, board, signal))) return;
    if (board.state === 'standby') board.state = 'starting';
    await setGuards(connection);
    await new Session({ ...options, board, clock, progressed }, connection, signal).run();
  } finally {
    await connection.close();
  }
}

/** Errors that no repetition cures. */
const refusals = [ForeignLog, BrokenInvariant, UnreadableEvent];

/** Notes why the projector has stopped for now; one that must not go on waits for long. */
function noteFailure(board: StatusBoard, error: unknown): number | undefined {
  const isRefused = refusals.some((kind) => error instanceof kind);
  board.state = isRefused ? 'refused' : 'retrying';
  board.failure = error;
  board.countRetry();
  return isRefused ? retry.lastMilliseconds : undefined;
}

/** Takes the lock of the active projector unless another session has it. It ends with the session. */
export async function tryProjectorLock(connection: Connection): Promise<boolean> {
  const lock = sql<boolean>`pg_try_advisory_lock(hashtextextended(${projectorLock}, 0))`;
  const { rows } = await connection.run(statements.selectNoFrom(lock.as('acquired')));
  return rows[0]?.acquired === true;
}

/** Waits for the lock; false when it was stopped meanwhile. */
async function acquireLock(
  connection: Connection,
  board: StatusBoard,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    // Asked again and again instead of waiting inside Postgres, where a waiting statement would
    // hold back the clean-up of old row versions.
    if (await tryProjectorLock(connection)) return true;
    if (board.state !== 'standby') board.log.info('another projector is active, standing by');
    board.state = 'standby';
    board.failure = null;
    await sleep(lockPollMilliseconds, signal);
  }
  return false;
}

/**
 * Lets Postgres end this session, and with it the lock, when this process hangs or its machine
 * is gone, so that a standby takes over. Commits need not wait for the disk: rows and
 * checkpoint are lost together, and the log has both.
 */
async function setGuards(connection: Connection): Promise<void> {
  const settings = {
    statement_timeout: '110s',
    idle_in_transaction_session_timeout: '60s',
    idle_session_timeout: '60s',
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    synchronous_commit: 'off',
  };
  const set = Object.entries(settings).map(([name, value]) =>
    sql`set_config(${name}, ${value}, false)`.as(name),
  );
  await connection.run(statements.selectNoFrom(set));
}
