import { recordProjection } from '@counterfoil/engine/define';
import { catalogImport, catalogImportView } from './catalog-import.ts';

/** One row per import. */
export const catalogImportTable = recordProjection(catalogImport, {
  name: 'catalog_imports',
  version: 2,
  view: catalogImportView,
  columns: { import_status: { type: 'text', of: ({ import_status }) => import_status } },
});
