import { type EnvironmentId, type Instant, Problem } from '@counterfoil/kernel';
import type { Streams } from '../decide/streams.ts';
import { type SystemContext, systemContext } from '../decide/system-context.ts';
import type { Advance, AdvanceStep, Clocks, TestClock } from '../define/clock.ts';
import type { DueWork } from '../define/due-work.ts';
import type { EventStore, Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { ProjectedPosition } from '../projection/projected-position.ts';
import { type DueRow, dueRowsMaximum } from './due-rows.ts';
import type { RunDueWork } from './due-run.ts';
import { dueWorkLimits } from './due-work.ts';
import type { Reactions } from './reactions.ts';
import { inParallel, messageOf } from './run-forever.ts';

/** The number of times that one instant may bring new work. */
const roundsMaximum = 1_000;
/** The longest wait for the read models or the reactions before it is looked at again. */
const waitMilliseconds = 5_000;

/** The tools that all advances of a process share. */
export interface AdvanceTools {
  readonly database: string;
  readonly store: Pick<EventStore, 'head'>;
  readonly streams: Streams;
  readonly clocks: Clocks;
  readonly work: readonly DueWork[];
  readonly run: RunDueWork;
  readonly projected: ProjectedPosition;
  readonly reactions: Pick<Reactions, 'handled'>;
  /** Tells whether this process does the work; the others stand by. */
  readonly isActive: () => boolean;
  readonly log: Log;
}

/** The rows of a clock's environment that are or become due up to an instant, earliest first. */
export type RowsUpTo = (
  work: DueWork,
  clock: TestClock,
  upTo: Instant,
) => Promise<readonly DueRow[]>;

/** A clock that is on its way. */
type MovingClock = TestClock & { readonly advance: Advance };

interface DueNow {
  readonly work: DueWork;
  readonly row: DueRow;
}

/** One advance of a test clock at work: see ADR 26. */
export class RunningAdvance {
  readonly #tools: AdvanceTools;
  readonly #rowsUpTo: RowsUpTo;
  readonly #environmentId: EnvironmentId;
  readonly #signal: AbortSignal;
  /** Everything up to here has to be seen by read models and reactions before the next look. */
  #written: Position = 0n;
  /** Pieces of due work that have changed something since the clock moved. */
  #effects = 0;
  /** Rows of this instant that had nothing to do, as the read model shows them. */
  readonly #idle = new Set<string>();
  #rounds = 0;

  constructor(
    tools: AdvanceTools,
    rowsUpTo: RowsUpTo,
    environmentId: EnvironmentId,
    signal: AbortSignal,
  ) {
    this.#tools = tools;
    this.#rowsUpTo = rowsUpTo;
    this.#environmentId = environmentId;
    this.#signal = signal;
  }

  /** Resolves when the advance is over or is no longer this process's. Rejects when a server is away. */
  async run(): Promise<void> {
    this.#written = await this.#tools.store.head();
    while (await this.#settle()) {
      const clock = this.#tools.clocks.testClock(this.#environmentId);
      if (!isMoving(clock)) return;
      await this.#goOn(clock);
    }
  }

  /** Waits until read models and reactions have seen what was written. False when this process is to end. */
  async #settle(): Promise<boolean> {
    const { projected, reactions, isActive } = this.#tools;
    while (!this.#signal.aborted && isActive()) {
      const upTo = this.#written;
      if (!(await projected.waitFor(upTo, waitMilliseconds, this.#signal))) continue;
      const brought = await reactions.handled(upTo, waitMilliseconds, this.#signal);
      if (brought === null) continue;
      if (brought <= upTo) return true;
      this.#written = brought;
    }
    return false;
  }

  /** Runs what is due; when nothing is, moves the clock to what is due next, or ends the advance. */
  async #goOn(clock: MovingClock): Promise<void> {
    const { rows, isCut } = await this.#look(clock);
    const due = rows.filter(({ row }) => row.due_at <= clock.now);
    if (due.length > 0) return this.#runAll(clock, due);
    const { now, advance } = clock;
    if (advance.stopsAtEffect && advance.hasMoved) {
      return this.#step(clock, { kind: 'end', ended: 'effect', now });
    }
    const next = earliestOf(rows);
    if (next !== null) {
      this.#rounds = 0;
      this.#idle.clear();
      return this.#step(clock, { kind: 'move', now: next });
    }
    if (isCut) return this.#fail(clock, `More than ${dueRowsMaximum} records stay due at ${now}.`);
    return this.#step(clock, { kind: 'end', ended: 'reached', now: advance.to });
  }

  /** The earliest rows up to the target, without those that had nothing to do. */
  async #look(clock: MovingClock): Promise<{ rows: readonly DueNow[]; isCut: boolean }> {
    const { to } = clock.advance;
    const rowsOf = async (work: DueWork) => ({ work, rows: await this.#rowsUpTo(work, clock, to) });
    const kinds = await Promise.all(this.#tools.work.map(rowsOf));
    const isCut = kinds.some(({ rows }) => rows.length === dueRowsMaximum);
    const found = kinds.flatMap(({ work, rows }) => rows.map((row) => ({ work, row })));
    return { rows: found.filter((one) => !this.#idle.has(keyOf(one))), isCut };
  }

  async #runAll(clock: MovingClock, due: readonly DueNow[]): Promise<void> {
    this.#rounds += 1;
    if (this.#rounds > roundsMaximum) {
      const [{ work, row }] = due as [DueNow];
      const times = `${roundsMaximum.toLocaleString('en-US')} times`;
      return this.#fail(clock, `${clock.now} brings new work ${times}: ${work.name} of ${row.id}.`);
    }
    let failure: string | null = null;
    await inParallel(due, dueWorkLimits.concurrency, async (one) => {
      const reason = this.#signal.aborted ? null : await this.#runOne(one);
      failure ??= reason;
    });
    if (failure !== null) await this.#fail(clock, failure);
  }

  /** Runs the work of a row; the reason when it failed for good, and null otherwise. */
  async #runOne(one: DueNow): Promise<string | null> {
    const { work, row } = one;
    const outcome = await this.#tools.run(work, row);
    if (outcome.kind === 'failed') {
      if (mayPass(outcome.error)) throw outcome.error;
      return `${work.name} of ${row.id} failed: ${shownOf(outcome.error)}`;
    }
    if (outcome.position === null) this.#idle.add(keyOf(one));
    else {
      this.#effects += 1;
      if (outcome.position > this.#written) this.#written = outcome.position;
    }
    return null;
  }

  #fail(clock: MovingClock, failure: string): Promise<void> {
    return this.#step(clock, { kind: 'end', ended: 'failed', now: clock.now, failure });
  }

  async #step(clock: MovingClock, step: StepWithoutEffects): Promise<void> {
    const { advance } = clock;
    const effects = advance.effects + this.#effects;
    await this.#tools.clocks.step(this.#context(clock), clock, advance, { ...step, effects });
    this.#effects = 0;
    // Whoever else moves this clock has written what we have not waited for.
    const reached = this.#tools.clocks.testClock(this.#environmentId);
    if (reached?.now !== step.now) this.#written = await this.#tools.store.head();
  }

  #context({ tenantId, environmentId }: TestClock): SystemContext {
    const scope = { tenantId, environmentId, correlationId: 'clock' };
    return systemContext(this.#tools.streams, scope);
  }
}

type StepWithoutEffects = AdvanceStep extends infer Step
  ? Step extends AdvanceStep
    ? Omit<Step, 'effects'>
    : never
  : never;

const isMoving = (clock: TestClock | null): clock is MovingClock => clock?.advance != null;

const keyOf = ({ work, row }: DueNow): string =>
  `${work.name} ${row.id}@${row.revision} ${row.due_at}`;

const earliestOf = (rows: readonly DueNow[]): Instant | null =>
  rows.reduce<Instant | null>(
    (least, { row }) => (least === null || row.due_at < least ? row.due_at : least),
    null,
  );

/** Tells whether a failure may pass by itself: a server is away, or others were faster. */
const mayPass = (error: unknown): boolean =>
  error instanceof Problem &&
  ['service_unavailable', 'too_many_requests', 'version_conflict'].includes(error.code);

/** The words of a failure that a caller may see: nothing of the inside. */
const shownOf = (error: unknown): string =>
  error instanceof Problem ? messageOf(error) : 'an internal error, which the log tells more of.';
