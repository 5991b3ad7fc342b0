import { z } from 'zod';

/** The kinds of rows that are exported: those of the contract, and two of our own (D79). */
export const exportTypeSchema = z
  .enum([
    'events',
    'invoice',
    'credit_topups',
    'credit_usage',
    'usage_analytics',
    'invoice_lines',
    'wallet_ledger',
  ])
  .meta({ id: 'ExportType' });
export type ExportType = z.output<typeof exportTypeSchema>;

/** The lengths of windows. `custom` is one of the contract that no task can be given (E 23.2). */
export const exportIntervalSchema = z
  .enum(['15MIN', '30MIN', 'custom', 'hourly', 'daily'])
  .meta({ id: 'ExportInterval' });

/** The lengths that a task can be given. */
export const givenIntervals = ['15MIN', '30MIN', 'hourly', 'daily'] as const;
export type ExportInterval = (typeof givenIntervals)[number];

export const exportFormats = ['csv', 'ndjson', 'parquet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The instant by which rows belong to a window: that of recording, or that from which they count (D79, D84). */
export const windowedBy = ['recorded', 'effective'] as const;
export type WindowedBy = (typeof windowedBy)[number];

/** The encryption that a storage is asked for (E 23.1). */
export const encryptions = ['AES256', 'aws:kms', 'aws:kms:dsse'] as const;

/** The states of a run, as published clients know them (D84). */
export const runStatusSchema = z.enum(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED']);
