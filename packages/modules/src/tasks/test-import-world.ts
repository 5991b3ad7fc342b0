import type { AnyRoute, FileStore } from '@counterfoil/engine/define';
import { type EnvironmentId, Problem } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute, type MemoryWorld, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { strictTargetPolicy } from '@counterfoil/webhooks';
import { z } from 'zod';
import { customer, customerRecords } from '../customers/index.ts';
import { meter } from '../meters/index.ts';
import { offer } from '../offers/index.ts';
import { setting } from '../settings/index.ts';
import { taxAssociation, taxRate } from '../taxes/index.ts';
import { environment } from '../tenancy/index.ts';
import { importOperations } from './imports/operations.ts';
import type { RowRequest } from './imports/ports.ts';
import { type ImportEnd, runImport } from './imports/run-import.ts';
import { completeTask, failTask, noteProgress, startTask } from './task/decisions.ts';
import { badRowsOf } from './task/files.ts';
import { taskRoutes } from './task/routes.ts';
import { importTask } from './task/task.ts';
import { memoryFiles, streamOf, textOf } from './test-files.ts';

/** A process that dies in the middle of a run. */
export class Killed extends Error {}

/** The ways in which a run is disturbed. */
interface Disturbance {
  /** Dies instead of noting the progress of this portion, counted from 1. */
  readonly diesAtNote?: number;
  /** Answers in the place of the service, where it gives one. */
  readonly answer?: (request: RowRequest) => { status: number; body: unknown } | null;
  readonly signal?: AbortSignal;
  /** Other files than those of the world. */
  readonly files?: FileStore;
}

/** Carries a request out as the engine does, with its key. */
async function carriedOut(
  memory: MemoryWorld,
  { operation, params, query, body, key }: RowRequest,
) {
  const route = (importOperations as Readonly<Record<string, AnyRoute>>)[operation];
  if (!route) throw new Error(`there is no ${operation}`);
  try {
    const given: unknown = JSON.parse(body);
    const keyed = {
      key: key ?? '',
      operation: operation.replace('{id}', params.id ?? ''),
      fields: { body: given },
    };
    const context = memory.request(testPrincipal(), key === null ? undefined : keyed);
    return { status: 200, body: await callRoute(route, context, { params, query, body: given }) };
  } catch (error) {
    if (error instanceof z.ZodError) {
      const errors = error.issues.map(({ path, message }) => ({
        pointer: `/${path.join('/')}`,
        message,
      }));
      const message = `${errors[0]?.pointer.slice(1)}: ${errors[0]?.message}`;
      return { status: 400, body: { code: 'validation_error', message, errors } };
    }
    if (!(error instanceof Problem)) throw error;
    const { status, code, message, errors = [] } = error;
    return { status, body: { code, message, errors } };
  }
}

/** Imports over a log in memory: what the api does with real servers. */
export function importWorld(keptBytes?: number) {
  const aggregates = [importTask, customer, offer, meter, setting, taxRate, taxAssociation];
  const memory = memoryWorld([...aggregates, environment]);
  const files = memoryFiles(keptBytes);
  const routes = taskRoutes({ files, policy: strictTargetPolicy });
  const principal = testPrincipal();
  const request = () => memory.request(principal);
  const sent: RowRequest[] = [];
  let runs = 0;

  return {
    memory,
    files,
    routes,
    request,
    sent,
    create: (body: object) =>
      callRoute(routes['POST /tasks'], request(), { body: { task_type: 'IMPORT', ...body } }),
    upload: (id: string, text: string, query: object = {}) =>
      callRoute(routes['PUT /tasks/{id}/file'], request(), {
        params: { id },
        query,
        stream: streamOf(text),
      }),
    removeFile: (id: string) =>
      callRoute(routes['DELETE /tasks/{id}/file'], request(), { params: { id } }),
    get: (id: string) => callRoute(routes['GET /tasks/{id}'], request(), { params: { id } }),
    setStatus: (id: string, task_status: string) =>
      callRoute(routes['PUT /tasks/{id}/status'], request(), {
        params: { id },
        body: { task_status },
      }),
    badRows: async (id: string) => {
      const text = await textOf(
        files.read(badRowsOf(principal.environmentId as EnvironmentId, id)),
      );
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { line: number; error: string; row: unknown });
    },
    customers: async () => {
      const page = { limit: 1_000, offset: 0 };
      const { items } = await request().read.list(customerRecords.table, page);
      return items;
    },
    /** Runs an import as a process of the api does. */
    async run(
      id: string,
      { diesAtNote, answer, signal, ...own }: Disturbance = {},
    ): Promise<ImportEnd> {
      const decide = (decision: ReturnType<typeof startTask>) =>
        request().execute(importTask, id, decision);
      const { state } = await decide(startTask());
      if (!state) throw new Error(`there is no task ${id}`);
      let notes = 0;
      runs += 1;
      const end = await runImport(state, {
        files: own.files ?? files,
        mark: `run-${runs}`,
        signal: signal ?? new AbortController().signal,
        pause: () => Promise.resolve(),
        send: async (row) => {
          sent.push(row);
          return answer?.(row) ?? carriedOut(memory, row);
        },
        note: async (progress) => {
          notes += 1;
          if (notes === diesAtNote) throw new Killed();
          return (await decide(noteProgress(progress))).events.length > 0;
        },
      });
      if (end.kind === 'failed') await decide(failTask(end.summary));
      if (end.kind === 'completed') await decide(completeTask(end.rows));
      return end;
    },
  };
}
