import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Connection,
  connect,
  type HandedAnswer,
  type HttpServer,
  type Log,
  type Metrics,
  type OpenFileStore,
  runForever,
  type Streams,
  systemClock,
  systemContext,
} from '@counterfoil/engine';
import { type EnvironmentId, Problem, problemCodes, type TenantId } from '@counterfoil/kernel';
import {
  abandonTask,
  completeTask,
  failTask,
  type ImportEnd,
  type ImportTask,
  importTask,
  isRunnable,
  keepFile,
  keptHours,
  noteProgress,
  type RowRequest,
  receiveFile,
  runImport,
  startTask,
  uploadHours,
  uploadOf,
} from '@counterfoil/modules';
import { FileNotFetched, fetchedFile, type TargetPolicy } from '@counterfoil/webhooks';
import type { Authentication } from './authentication.ts';
import { abandonedImports, type FoundImport, runnableImports } from './open-imports.ts';

export interface ImportsOptions {
  readonly database: string;
  readonly files: OpenFileStore;
  readonly streams: Streams;
  readonly server: Pick<HttpServer, 'carryOut'>;
  readonly authentication: Pick<Authentication, 'principalOf'>;
  readonly policy: TargetPolicy;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Imports that one process carries out at once, of which each tenant has one. */
const atOnce = 4;
/** The wait between two looks for imports. */
const lookMilliseconds = 1_000;
/** An import that another process has, or that failed for a reason of ours, is looked at again after this. */
const restMilliseconds = 3_000;
/** Old files are looked for this often. */
const upkeepMilliseconds = 3_600_000;

/**
 * Carries out imports, each in the name of the key that asked for it. Of several processes the one that holds the lock of a task
 * works on it; when it dies the lock is gone with its session, and another goes on (ADR 52).
 */
export function startImports(options: ImportsOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const worker = new Imports(options, stopping.signal);
  const { log } = options;
  const { signal } = stopping;
  const running = runForever(() => worker.look(), { name: 'imports', log, signal });
  return {
    async stop() {
      stopping.abort();
      await running;
      await worker.ended();
    },
  };
}

class Imports {
  readonly #options: ImportsOptions;
  readonly #signal: AbortSignal;
  readonly #running = new Map<string, Promise<void>>();
  /** Tasks that are let be until an instant of `performance.now()`. */
  readonly #resting = new Map<string, number>();
  readonly #rows: (outcome: 'successful' | 'failed', count: number) => void;
  #connection: Connection | null = null;
  #upkeepAt = 0;

  constructor(options: ImportsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const rows = options.metrics.counter({
      name: 'counterfoil_import_rows_total',
      help: 'Rows of imports that were carried out, by outcome',
      labels: ['outcome'],
    });
    this.#rows = (outcome, count) => rows.inc({ outcome }, count);
  }

  /** Begins what can be begun. Returns the milliseconds until the next look. */
  async look(): Promise<number> {
    const { database, files } = this.#options;
    this.#connection ??= await connect(database, { application: 'counterfoil imports' });
    try {
      for (const found of await runnableImports(this.#connection)) {
        if (this.#running.size >= atOnce) break;
        if (this.#mayBegin(found)) this.#begin(found);
      }
    } catch (error) {
      await this.#connection.close();
      this.#connection = null;
      throw error;
    }
    if (performance.now() >= this.#upkeepAt) {
      this.#upkeepAt = performance.now() + upkeepMilliseconds;
      for (const [hours, nameLike] of keptHours) await files.removeOlderThan(hours, nameLike);
      await this.#failAbandoned(this.#connection);
    }
    return lookMilliseconds;
  }

  /** Imports that wait in vain for a file would count among those that have not ended for ever. */
  async #failAbandoned(connection: Connection): Promise<void> {
    const { streams } = this.#options;
    for (const { id, tenant_id, environment_id } of await abandonedImports(
      connection,
      uploadHours,
    )) {
      const scope = { tenantId: tenant_id, environmentId: environment_id, correlationId: id };
      await systemContext(streams, scope).execute(importTask, id, abandonTask(uploadHours));
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
    await this.#connection?.close();
  }

  #mayBegin({ id, tenant_id }: FoundImport): boolean {
    const now = performance.now();
    for (const [rested, until] of this.#resting) if (until <= now) this.#resting.delete(rested);
    return !this.#running.has(tenant_id) && !this.#resting.has(id);
  }

  #begin(found: FoundImport): void {
    const { log } = this.#options;
    const run = this.#locked(found)
      .catch((error: unknown) => {
        log.warn({ err: error, task: found.id }, 'an import does not get on');
      })
      .finally(() => {
        this.#resting.set(found.id, performance.now() + restMilliseconds);
        this.#running.delete(found.tenant_id);
      });
    this.#running.set(found.tenant_id, run);
  }

  /** Works on a task while this process holds its lock. */
  async #locked(found: FoundImport): Promise<void> {
    const { database } = this.#options;
    const session = await connect(database, { application: 'counterfoil import' });
    try {
      const { rows } = await session.query<{ locked: boolean }>(
        "select pg_try_advisory_lock(hashtextextended('counterfoil import ' || $1, 0)) as locked",
        [found.id],
      );
      if (!rows[0]?.locked) return;
      await this.#work(found, AbortSignal.any([this.#signal, session.lost]));
    } finally {
      await session.close();
    }
  }

  async #work({ id, tenant_id, environment_id }: FoundImport, signal: AbortSignal): Promise<void> {
    const scope = { tenantId: tenant_id, environmentId: environment_id, correlationId: id };
    const context = systemContext(this.#options.streams, scope);
    const decide = (decision: ReturnType<typeof startTask>) =>
      context.execute(importTask, id, decision);
    const before = await context.load(importTask, id);
    if (!before || !isRunnable(before)) return;
    const { state } = await decide(startTask());
    const mark = randomUUID();
    const task = state && (await this.#withFile(state, mark, signal, decide));
    if (!task) return;
    const end = await this.#run(task, mark, signal, decide);
    if (end.kind === 'failed') await decide(failTask(end.summary));
    if (end.kind !== 'completed') return;
    const { events } = await decide(completeTask(end.rows));
    if (events.length > 0) await this.#options.files.remove(uploadOf(environment_id, id));
  }

  /** The task with its file, fetched where it is at a URL; null where it cannot go on now. */
  async #withFile(
    task: ImportTask,
    mark: string,
    signal: AbortSignal,
    decide: (
      decision: ReturnType<typeof startTask>,
    ) => Promise<{ readonly state: ImportTask | null }>,
  ): Promise<ImportTask | null> {
    const { files, policy } = this.#options;
    const { id, environment_id, file_url: url, file } = task;
    const name = uploadOf(environment_id, id);
    if (url === null || (file && (await files.stateOf(name))?.bytes === file.bytes)) return task;
    try {
      const kept = await keepFile(files, name, mark, fetchedFile(url, { policy, signal }));
      return (await decide(receiveFile(kept))).state;
    } catch (error) {
      const isTheirs = error instanceof FileNotFetched || isRefusal(error);
      if (!isTheirs || signal.aborted) throw error;
      await decide(failTask((error as Error).message));
      return null;
    }
  }

  #run(
    task: ImportTask,
    mark: string,
    signal: AbortSignal,
    decide: (
      decision: ReturnType<typeof startTask>,
    ) => Promise<{ readonly events: readonly unknown[] }>,
  ): Promise<ImportEnd> {
    return runImport(task, {
      files: this.#options.files,
      mark,
      signal,
      send: (request) => this.#send(task, request),
      note: async (progress) => {
        const { events } = await decide(noteProgress(progress));
        if (events.length === 0) return false;
        this.#rows('successful', progress.successful);
        this.#rows('failed', progress.failed);
        return true;
      },
      pause: (attempt) =>
        delay(Math.min(100 * 2 ** attempt, 10_000), undefined, { signal }).catch(() => undefined),
    });
  }

  /** Carries out a request of a row as one of the caller's, in this process. */
  async #send(task: ImportTask, { operation, params, query, body, key }: RowRequest) {
    const { server, authentication } = this.#options;
    const { tenant_id, environment_id, key_id } = task;
    const place = {
      tenantId: tenant_id as TenantId,
      environmentId: environment_id as EnvironmentId,
    };
    try {
      const principal = key_id && authentication.principalOf({ ...place, keyId: key_id });
      if (!principal) return refused('unauthenticated', goneKey);
      const answer = await server.carryOut(
        {
          route: operation,
          params,
          url: `/?${new URLSearchParams(query)}`,
          body,
          headers: key === null ? {} : { 'idempotency-key': key },
          requestId: task.id,
          receivedAt: systemClock.now(''),
          caller: { ...place, keyId: principal.keyId },
          madeKey: null,
        },
        principal,
      );
      return answer
        ? answerOf(answer.value)
        : refused('internal_error', `There is no ${operation}.`);
    } catch (error) {
      // The keys cannot be looked up while the log is away.
      return refused('service_unavailable', (error as Error).message);
    }
  }
}

const goneKey =
  'The API key that asked for the import does not count any more. Have it go on with another one.';

const isRefusal = (error: unknown): boolean => error instanceof Problem && error.status < 500;

const refused = (
  code: 'unauthenticated' | 'internal_error' | 'service_unavailable',
  message: string,
) => ({
  status: problemCodes[code].status,
  body: { code, message },
});

const answerOf = (answer: HandedAnswer) =>
  answer.kind === 'result'
    ? { status: 200, body: answer.text === null ? null : (JSON.parse(answer.text) as unknown) }
    : {
        status: problemCodes[answer.code].status,
        body: { code: answer.code, message: answer.message, errors: answer.errors ?? [] },
      };
