import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { type Connection, connect } from '../database/database.ts';
import type { Streams } from '../decide/streams.ts';
import { workContext } from '../decide/work-context.ts';
import type { Place, Reader } from '../define/context.ts';
import type { FactWork } from '../define/fact-work.ts';
import type { FactsOf } from '../intake/fact-reads.ts';
import type { FillingTracker } from '../intake/filling-tracker.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { ProjectedPosition } from '../projection/projected-position.ts';
import { quoted } from '../projection/table-shape.ts';
import { inParallel } from './run-forever.ts';
import { FailedWork, keepRounds, readTogether, type WorkRoundsOptions } from './work-rounds.ts';

/** Marks that are taken at once, records that are worked on at once, and records that may wait after a failure. */
export const factWorkLimits = { marks: 500, concurrency: 4, failed: 10_000 } as const;
/** A record whose work failed is tried again after this. */
const retryMilliseconds = 5_000;

export interface FactWorkOptions extends WorkRoundsOptions {
  readonly database: string;
  readonly work: readonly FactWork[];
  readonly streams: Streams;
  readonly tracker: Pick<FillingTracker, 'schemaOf'>;
  readonly reader: (place: Place) => Reader;
  readonly factsOf: FactsOf;
  /** The position of the tables of records, which loaded records are not behind. */
  readonly projected: Pick<ProjectedPosition, 'position'>;
  readonly metrics?: Metrics;
}

/** A record that has a mark. */
interface Mark {
  readonly id: string;
  readonly tenant_id: TenantId;
  readonly environment_id: EnvironmentId;
  /** A greater number of causes is a new mark. */
  readonly causes: string;
}

/**
 * Looks again and again for records that new facts concern, those that have waited longest first, and runs the work for
 * each. A mark is taken away after its work alone, so a crash repeats work and loses none.
 */
export function startFactWork(options: FactWorkOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rounds = new Rounds(options, signal);
  const running = keepRounds(
    options,
    {
      name: 'work that follows from facts',
      connect: () => connect(options.database, { application: 'counterfoil fact work' }),
      round: (connection) => rounds.take(connection),
    },
    signal,
  );
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

class Rounds {
  readonly #options: FactWorkOptions;
  readonly #signal: AbortSignal;
  readonly #failed = new FailedWork(factWorkLimits.failed, retryMilliseconds);
  readonly #count: (work: string, outcome: 'done' | 'failed') => void;

  constructor(options: FactWorkOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const done = options.metrics?.counter({
      name: 'counterfoil_fact_work_total',
      help: 'Work that followed from facts and was done, by kind and outcome',
      labels: ['work', 'outcome'],
    });
    this.#count = (work, outcome) => done?.inc({ work, outcome });
  }

  /** One round over all kinds of work. Returns whether there may be more at once. */
  async take(connection: Connection): Promise<boolean> {
    let hasMore = false;
    // Most rounds find nothing, so all kinds are asked together.
    const found = await readTogether(connection, this.#options.work, (work) =>
      this.#marked(connection, work),
    );
    for (const { work, relation, marks } of found.filter((each) => each !== null)) {
      hasMore ||= marks.length >= factWorkLimits.marks;
      await inParallel(marks, factWorkLimits.concurrency, async (mark) => {
        if (this.#signal.aborted || !(await this.#run(work, mark))) return;
        await takeAway(connection, relation, mark);
      });
      if (this.#signal.aborted) return false;
    }
    return hasMore;
  }

  /** The marks of a kind of work, and the relation in which they stand; null where there is no such table yet. */
  async #marked(connection: Connection, work: FactWork) {
    const schema = this.#options.tracker.schemaOf(work.tables.name);
    if (schema === null) return null;
    const relation = `${quoted(schema)}.${quoted(work.marks)}`;
    return { work, relation, marks: await marksIn(connection, relation, this.#failed.of(work)) };
  }

  /** Runs the work of a mark. It never rejects; false where the mark has to stay. */
  async #run(work: FactWork, { id, tenant_id, environment_id }: Mark): Promise<boolean> {
    const { streams, reader, factsOf, projected, log } = this.#options;
    const reads = { reader, factsOf, loadsUpTo: () => projected.position() };
    const correlationId = `facts ${work.name}`;
    const scope = { tenantId: tenant_id, environmentId: environment_id, correlationId };
    try {
      await work.run(workContext(streams, scope, reads), id);
      this.#count(work.name, 'done');
      return true;
    } catch (error) {
      this.#count(work.name, 'failed');
      this.#failed.note(work, id);
      log.warn({ err: error, work: work.name, id }, 'work that follows from facts failed');
      return false;
    }
  }
}

async function marksIn(
  connection: Connection,
  relation: string,
  without: readonly string[],
): Promise<readonly Mark[]> {
  const { rows } = await connection.query<Mark>(
    `select id, tenant_id, environment_id, causes from ${relation}
      where marked_at is not null and id <> all($1::text[])
      order by marked_at limit ${factWorkLimits.marks}`,
    [without],
    { prepared: true },
  );
  return rows;
}

/** Takes the mark of a record away; one that has a newer mark goes to the end of those that wait. */
async function takeAway(connection: Connection, relation: string, mark: Mark): Promise<void> {
  await connection.query(
    `update ${relation} set marked_at = case when causes > $2 then now() end where id = $1`,
    [mark.id, mark.causes],
  );
}
