import { recordProjection } from '@counterfoil/engine/define';
import { instantOf } from '@counterfoil/kernel';
import { catalogImport, catalogImportView } from './catalog-import.ts';

/** The time that the request itself has for what it began, before somebody else goes on. */
const graceMilliseconds = 5_000;

/** One row per import; due as long as it is not known to be carried out. */
export const catalogImportTable = recordProjection(catalogImport, {
  name: 'catalog_imports',
  version: 1,
  view: catalogImportView,
  columns: {
    import_status: { type: 'text', of: ({ import_status }) => import_status },
    due_at: {
      type: 'timestamptz',
      of: ({ import_status, created_at }) =>
        import_status === 'finished' ? null : instantOf(Date.parse(created_at) + graceMilliseconds),
      index: true,
    },
  },
});
