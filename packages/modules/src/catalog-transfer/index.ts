import { module } from '@counterfoil/engine/define';
import { importCarriedOut } from './carry-out.ts';
import { catalogImport } from './catalog-import.ts';
import { catalogImportTable } from './projection.ts';
import { catalogTransferRoutes } from './routes.ts';

export { catalogImport, type Step, startImport } from './catalog-import.ts';
export { exportCatalog, importCatalog } from './routes.ts';
export { type CatalogDocument, documentSchema, type ImportResult } from './schema.ts';

/**
 * The catalogue of an environment as one document: its export, its import, and the changes that an
 * import would make.
 */
export const catalogTransfer = module({
  name: 'catalog-transfer',
  aggregates: [catalogImport],
  tables: [catalogImportTable],
  routes: catalogTransferRoutes,
  publicEvents: [],
  reactions: [importCarriedOut],
});

/** The routes with their exact types, for the typed client. */
export type CatalogTransferRoutes = typeof catalogTransferRoutes;
