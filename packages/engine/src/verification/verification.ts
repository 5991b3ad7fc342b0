import { runForever, sleep } from '../consume/run-forever.ts';
import { type Connection, connect } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import { eventAt } from '../log/event-at.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { parseStreamName } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { Difference } from './row-difference.ts';
import {
  completeRound,
  type Finding,
  type Progress,
  readFindings,
  readProgress,
  restartRound,
  saveFinding,
  saveProgress,
} from './verification-record.ts';
import { verifyReadModel } from './verify.ts';
import { ChainWalk } from './verify-chains.ts';

/** Looks at every event of one round by itself. */
export interface RoundCheck {
  take(event: StoredEvent): void;
  /** Asked at the end of the log. */
  findings(): readonly Finding[];
}

/** The resources that work in the background may take. */
export interface Pace {
  readonly eventsPerSecond: number;
  /** Share of the time in which it may be at work, above 0 and at most 1. */
  readonly share: number;
}

export interface VerificationOptions {
  readonly store: EventStore;
  readonly database: string;
  /** Streams to verify, by prefix. */
  readonly prefixes: readonly string[];
  readonly tables: readonly AnyProjection[];
  /** A further check for rounds that begin with the log in this process. */
  readonly roundCheck?: () => Promise<RoundCheck>;
  /** Tells whether this process verifies; the others stand by. */
  readonly isActive: () => boolean;
  readonly pace: Pace;
  /** Milliseconds from the end of a round to the beginning of the next. */
  readonly restMilliseconds: number;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** The verification in the background. */
export interface Verification {
  /** Throws, with the first finding, while there is one. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** Events between two waits. */
const stride = 500;
const saveMilliseconds = 1_000;
const standbyMilliseconds = 500;
/**
 * Logs of more events have their read models compared by `counterfoil verify` alone: the comparison
 * writes a copy of all rows, which is to be removed again.
 */
const comparedEventsMaximum = 500_000;

/**
 * Walks through the log again and again, slowly: checks the chain of every stream, and, at the end
 * of the log, the read models. It remembers how far it has come, so that a restart does not keep it
 * from ever reaching the end. A finding is logged, counted, kept in the database, and makes `check`
 * fail until a complete round no longer finds it.
 */
export function startVerification(options: VerificationOptions): Verification {
  const stopping = new AbortController();
  const board = new VerificationBoard(options.metrics);
  const { signal } = stopping;
  const turn = async (): Promise<number> => {
    if (!options.isActive()) return standbyMilliseconds;
    await runRound(options, board, signal);
    return options.restMilliseconds;
  };
  const running = runForever(turn, { name: 'verification', log: options.log, signal });
  return {
    check: async () => board.check(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** One round, from where the last process left it to the end of the log. */
async function runRound(
  options: VerificationOptions,
  board: VerificationBoard,
  signal: AbortSignal,
): Promise<void> {
  const connection = await connect(options.database, { application: 'counterfoil verification' });
  try {
    const end = AbortSignal.any([signal, connection.lost]);
    const round = new Round(options, board, connection, end);
    await board.read(connection);
    await round.run();
    await board.read(connection);
  } finally {
    await connection.close();
  }
}

class Round {
  readonly #options: VerificationOptions;
  readonly #board: VerificationBoard;
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #waitFor: (events: number) => Promise<void>;
  #number = 0;
  #events = 0;

  constructor(
    options: VerificationOptions,
    board: VerificationBoard,
    connection: Connection,
    signal: AbortSignal,
  ) {
    this.#options = options;
    this.#board = board;
    this.#connection = connection;
    this.#signal = signal;
    this.#waitFor = createPacer(options.pace, signal);
  }

  async run(): Promise<void> {
    const { store } = this.#options;
    let progress = await readProgress(this.#connection);
    this.#number = progress.round;
    if (!(await this.#isSameLog(progress))) {
      await restartRound(this.#connection);
      progress = { ...progress, position: 0n, mark: null };
    }
    const isWhole = progress.position === 0n;
    const roundCheck = isWhole ? await this.#options.roundCheck?.() : undefined;
    // Only now: the check may know of events that were written while it was made.
    const upTo = await store.head();
    if (!(await this.#walk(progress.position, upTo, roundCheck))) return;
    for (const finding of roundCheck?.findings() ?? []) await this.#report(finding);
    const kinds: Finding['kind'][] = ['event'];
    if (roundCheck) kinds.push('checkpoint');
    if (isWhole && (await this.#compare())) kinds.push('read_model');
    if (this.#signal.aborted) return;
    await completeRound(this.#connection, { round: this.#number, kinds }, upTo);
    const { count } = await readFindings(this.#connection);
    const result = { round: this.#number, position: String(upTo), findings: count };
    this.#options.log.info(result, 'the log has been verified');
  }

  /** Tells whether what was verified last is still there; otherwise the log has another end. */
  async #isSameLog({ mark }: Progress): Promise<boolean> {
    if (!mark) return true;
    const { stream, revision, hash } = mark;
    try {
      const event = await eventAt(this.#options.store, stream, revision);
      if (event?.metadata.hash === hash) return true;
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      // It is there, so the log may be the same; every round finds what is wrong with it.
      await this.#report(findingOf(error, error.message));
      return true;
    }
    const scope = parseStreamName(stream)?.scope ?? null;
    const problem = 'the event that was verified here before is gone or another';
    await this.#report({ kind: 'log', place: `${stream}@${revision}`, scope, problem });
    return false;
  }

  /** Checks the chains up to a position; false when it could not get there. */
  async #walk(after: Position, upTo: Position, roundCheck?: RoundCheck): Promise<boolean> {
    const { store, prefixes, isActive } = this.#options;
    const walk = new ChainWalk(store);
    let last: StoredEvent | null = null;
    let isWhole = true;
    let savedAt = performance.now();
    const save = async (): Promise<void> => {
      savedAt = performance.now();
      if (!last) return;
      const { stream, revision, position, metadata } = last;
      const mark = { stream, revision, hash: metadata.hash };
      await saveProgress(this.#connection, position, mark);
      this.#board.position = position;
    };
    try {
      for await (const event of store.readLog({ prefixes, after, upTo, signal: this.#signal })) {
        const problem = await walk.take(event);
        if (problem) await this.#report(findingOf(event, problem));
        roundCheck?.take(event);
        last = event;
        this.#events += 1;
        if (this.#events % stride !== 0) continue;
        this.#board.count(stride);
        if (performance.now() - savedAt > saveMilliseconds) await save();
        await this.#waitFor(stride);
        isWhole = isActive();
        if (!isWhole) break;
      }
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      await save();
      await this.#report(findingOf(error, error.message));
      return false;
    }
    this.#board.count(this.#events % stride);
    await save();
    return isWhole && isActive();
  }

  /** Compares the read models; false when not all could be, or the log is too long for that. */
  async #compare(): Promise<boolean> {
    const { store, database, tables } = this.#options;
    if (this.#events > comparedEventsMaximum) return false;
    const report = await verifyReadModel({
      store,
      database,
      tables,
      batchMaximum: stride,
      pace: this.#waitFor,
      signal: this.#signal,
    });
    for (const difference of report.differences) await this.#report(differenceFinding(difference));
    return report.skipped.length === 0;
  }

  async #report(finding: Finding): Promise<void> {
    this.#options.log.error({ finding }, 'the verification found something that is not as it was');
    await saveFinding(this.#connection, this.#number, finding);
    await this.#board.read(this.#connection);
  }
}

/** A finding at an event; of a stream with a strange name nobody knows whose it is. */
const findingOf = (
  { stream, revision }: { readonly stream: string; readonly revision: number },
  problem: string,
): Finding => ({
  kind: 'event',
  place: `${stream}@${revision}`,
  scope: parseStreamName(stream)?.scope ?? '',
  problem,
});

const differenceFinding = ({ table, scope, id, kind, path }: Difference): Finding => ({
  kind: 'read_model',
  place: path === '' ? `${table} ${id}` : `${table} ${id} ${path}`,
  scope,
  problem: {
    different: 'is not what the log says',
    missing: 'the row is missing',
    extra: 'the log knows no such row',
  }[kind],
});

/** Makes a function that is told of each piece of work and waits until the next one may begin. */
function createPacer(
  { eventsPerSecond, share }: Pace,
  signal: AbortSignal,
): (events: number) => Promise<void> {
  let began = performance.now();
  return async (events) => {
    const worked = performance.now() - began;
    const allowed = Math.max((events / eventsPerSecond) * 1_000, worked / share);
    if (allowed > worked) await sleep(allowed - worked, signal);
    began = performance.now();
  };
}

/** The state of the verification, as operators see it. */
class VerificationBoard {
  #findings = 0;
  #first: string | null = null;
  readonly #instruments: ReturnType<typeof instrumentsOf> | null;

  constructor(metrics?: Metrics) {
    this.#instruments = metrics ? instrumentsOf(metrics) : null;
  }

  set position(position: Position) {
    this.#instruments?.position.set(Number(position));
  }

  count(events: number): void {
    this.#instruments?.events.inc(events);
  }

  /** Reads the findings, those of former processes too, with their times. */
  async read(connection: Connection): Promise<void> {
    const { count, first } = await readFindings(connection);
    const { position, completedAt } = await readProgress(connection);
    this.#findings = count;
    this.#first = first;
    this.#instruments?.found.set(count);
    this.position = position;
    if (completedAt) this.#instruments?.completed.set(Date.parse(completedAt) / 1_000);
  }

  /** Throws, with the first finding, while there is one. */
  check(): void {
    if (this.#findings === 0) return;
    throw new Error(`The verification has ${this.#findings} findings, the first: ${this.#first}`);
  }
}

const instrumentsOf = (metrics: Metrics) => ({
  position: metrics.gauge({
    name: 'counterfoil_verification_position',
    help: 'Position of the log up to which this round of the verification has come',
  }),
  completed: metrics.gauge({
    name: 'counterfoil_verification_completed_timestamp_seconds',
    help: 'When the verification last reached the end of the log; 0 before the first time',
  }),
  found: metrics.gauge({
    name: 'counterfoil_verification_findings',
    help: 'Events, checkpoints and rows that are not what they were',
  }),
  events: metrics.counter({
    name: 'counterfoil_verification_events_total',
    help: 'Events whose hash was computed again',
  }),
});
