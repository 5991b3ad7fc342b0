import type { ExportRun, JobConfig } from '../../scheduled-tasks/index.ts';
import { type Cell, columnsOf, type ExportColumn } from '../rows.ts';

type Metadata = Readonly<Record<string, string>>;

/** The columns of metadata that a task asks for (E 23.1). */
export const metadataColumns = (
  fields: JobConfig['export_metadata_fields'],
): readonly ExportColumn[] => columnsOf('text', ...fields.map(({ column_name }) => column_name));

/** Their cells. Of several wallets the first one that has the key. */
export const metadataCells = (
  { job_config }: Pick<ExportRun, 'job_config'>,
  customer: Metadata,
  wallets: readonly Metadata[],
): readonly Cell[] =>
  job_config.export_metadata_fields.map(({ entity_type, field_key }) => {
    const owners = entity_type === 'customer' ? [customer] : wallets;
    return owners.find((metadata) => Object.hasOwn(metadata, field_key))?.[field_key] ?? null;
  });
