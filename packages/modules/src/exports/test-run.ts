import type { ExportRun, JobConfig } from '../scheduled-tasks/index.ts';
import { columnsOf, type ExportRow, summedColumns } from './rows.ts';
import type { RunRows } from './write-export.ts';

export const testColumns = [
  ...columnsOf('text', 'id', 'note'),
  ...columnsOf('decimal', 'amount'),
  ...columnsOf('text', 'currency'),
  ...columnsOf('instant', 'at'),
  ...columnsOf('integer', 'count'),
  ...columnsOf('boolean', 'is_paid'),
  ...columnsOf('json', 'metadata'),
];

/** A row of every kind of cell. */
export const testRow = (id: string, note: string | null, amount: string): ExportRow => [
  ...[id, note, amount, 'USD', '2026-01-01T00:00:00.000Z', 7, true, '{"a":"b"}'],
];

const config: JobConfig = {
  bucket: 'warehouse',
  region: 'eu-central-1',
  key_prefix: 'daily',
  endpoint_url: null,
  use_path_style: true,
  compression: 'none',
  encryption: 'AES256',
  format: 'csv',
  window_by: 'recorded',
  export_metadata_fields: [],
};

/** A run of one window with these rows. */
export const testRun = (
  portions: readonly (readonly ExportRow[])[],
  job: Partial<JobConfig> = {},
  onRows: RunRows['onRows'] = () => undefined,
): RunRows => ({
  run: {
    id: 'task_1',
    scheduled_task_id: 'schtask_1',
    entity_type: 'invoice',
    job_config: { ...config, ...job },
    start: '2026-01-01T00:00:00.000Z',
    end: '2026-01-02T00:00:00.000Z',
    attempts: 1,
    position: '200',
    previous: { end: '2026-01-01T00:00:00.000Z', position: '100' },
  } as unknown as ExportRun,
  columns: testColumns,
  summed: summedColumns(testColumns, 'currency', 'amount'),
  rows: {
    async *[Symbol.asyncIterator]() {
      yield* portions;
    },
  },
  late: () => Promise.resolve(null),
  onRows,
  onLeft: (error) => {
    throw error;
  },
  isCurrent: () => Promise.resolve(true),
  signal: new AbortController().signal,
});
