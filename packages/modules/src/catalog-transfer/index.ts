import { type DueWork, module } from '@counterfoil/engine/define';
import { finishDue } from './carry-out.ts';
import { catalogImport, catalogImportEnd } from './catalog-import.ts';
import { catalogImportTable } from './projection.ts';
import { catalogTransferRoutes } from './routes.ts';

export { catalogImport, startImport } from './catalog-import.ts';
export { exportCatalog, importCatalog } from './routes.ts';
export { type CatalogDocument, documentSchema, type ImportResult } from './schema.ts';

/** Goes on with imports whose process died between the decision and the end. */
const completion: DueWork = {
  name: 'catalogue import',
  table: catalogImportTable,
  column: 'due_at',
  run: finishDue,
};

/**
 * The catalogue of an environment as one document: its export, its import, and the changes that an
 * import would make.
 */
export const catalogTransfer = module({
  name: 'catalog-transfer',
  aggregates: [catalogImport, catalogImportEnd],
  tables: [catalogImportTable],
  routes: catalogTransferRoutes,
  publicEvents: [],
  dueWork: [completion],
});

/** The routes with their exact types, for the typed client. */
export type CatalogTransferRoutes = typeof catalogTransferRoutes;
