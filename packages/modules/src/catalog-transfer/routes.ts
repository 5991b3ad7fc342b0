import {
  newText,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { type CatalogImportId, notFound, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { importCarriedOut } from './carry-out.ts';
import { catalogImport, catalogImportView, type Step, startImport } from './catalog-import.ts';
import { exportedDocument } from './export.ts';
import { type ImportPlan, planImport } from './plan-import.ts';
import {
  type CatalogDocument,
  catalogImportSchema,
  documentSchema,
  type ImportRequest,
  type ImportResult,
  importResultSchema,
  importSchema,
} from './schema.ts';
import { catalogSnapshot } from './snapshot.ts';

const tag = 'Catalogue transfer';

/** Exports the catalogue of the environment of a context. */
export const exportCatalog = async (context: RequestContext): Promise<CatalogDocument> =>
  exportedDocument(await catalogSnapshot(context), context.now);

interface ImportOptions {
  /** True to record an import that has nothing to do as well; a repeatable request always does. */
  readonly isAlwaysRecorded?: boolean;
  /** Steps that are part of the decision and come after those of the document. */
  readonly further?: readonly Step[];
}

const notFinished = (id: CatalogImportId): Problem =>
  new Problem(
    'service_unavailable',
    `The import ${id} is decided and could not be carried out yet; that will follow by itself.`,
    { retryAfterSeconds: 5, details: { id } },
  );

/** Decides an import, records the decision and carries it out; or only returns what it would be. */
export async function importCatalog(
  context: RequestContext,
  { dry_run, ...request }: ImportRequest,
  { isAlwaysRecorded = context.idempotencyKey !== null, further = [] }: ImportOptions = {},
): Promise<ImportResult> {
  const id: CatalogImportId = context.newId('cimp');
  const planned = async (): Promise<ImportPlan> =>
    planImport(context, await catalogSnapshot(context), request, id);
  if (dry_run) {
    const { changes, unchanged } = await planned();
    return { dry_run, changes: [...changes], unchanged, refused: [] };
  }
  let unchanged = 0;
  const outcome = await context.execute(catalogImport, id, {
    prepare: async () => {
      const plan = await planned();
      unchanged = plan.unchanged;
      const { prune } = request;
      const decided = {
        ...plan,
        steps: [...plan.steps, ...further],
        changes: [...plan.changes],
        id,
        prune,
      };
      return startImport(decided, isAlwaysRecorded);
    },
  });
  if (!outcome.state) return { dry_run, changes: [], unchanged, refused: [] };
  await context.carryOut(importCarriedOut, id, outcome);
  const finished = (await context.load(catalogImport, id))?.finished;
  if (!finished) throw notFinished(id);
  const { changes, unchanged: kept } = outcome.state;
  return { id, dry_run, changes, unchanged: kept, refused: [...finished.refused] };
}

export const catalogTransferRoutes = {
  'GET /catalog/export': route({
    operationId: 'exportCatalog',
    summary: 'Export the catalogue as one document without ids',
    description:
      'All that is published, by lookup_keys, codes and names, always in the same order: it can be kept under version control.',
    tag,
    status: 200,
    permission: 'catalog:read',
    response: documentSchema,
    handle: exportCatalog,
  }),

  'POST /catalog/import': route({
    summary: 'Make the catalogue as a document says, all or nothing',
    description:
      'What the document names is created or changed; what it does not name stays, unless `prune` is set. A second import changes nothing. `dry_run` answers what would change. All faults are told at once.',
    tag,
    status: 200,
    permission: 'catalog:write',
    body: importSchema,
    bodyLimitBytes: 2 * 1024 * 1024,
    response: importResultSchema,
    example: {
      body: {
        document: {
          version: 1,
          groups: [
            { name: newText('Models'), lookup_key: newText('models'), entity_type: 'feature' },
          ],
        },
      },
      makes: 'cimp',
    },
    handle: (context, { body }) => importCatalog(context, body),
  }),

  'GET /catalog/imports/{id}': route({
    summary: 'Get an import',
    tag,
    status: 200,
    permission: 'catalog:read',
    params: z.object({ id: referenceSchema('cimp') }),
    response: catalogImportSchema,
    handle: async (context, { params: { id } }) => {
      const state = await context.load(catalogImport, id);
      if (!state) throw notFound('catalogue import', id);
      return withETag(catalogImportView(state), state.finished ? 1 : 0);
    },
  }),
} satisfies Routes;
