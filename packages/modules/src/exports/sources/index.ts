import type { ExportType } from '../../scheduled-tasks/index.ts';
import { creditUsageSource } from './credit-usage.ts';
import { eventsSource } from './events.ts';
import { invoiceLinesSource, invoicesSource } from './invoices.ts';
import { creditTopUpsSource, walletLedgerSource } from './ledger.ts';
import type { ExportSource } from './source.ts';
import { usageAnalyticsSource } from './usage-analytics.ts';

export type { ExportReads, ExportSource } from './source.ts';

/** The rows of every kind that is exported. */
export const exportSources: Readonly<Record<ExportType, ExportSource>> = {
  events: eventsSource,
  invoice: invoicesSource,
  invoice_lines: invoiceLinesSource,
  credit_topups: creditTopUpsSource,
  wallet_ledger: walletLedgerSource,
  credit_usage: creditUsageSource,
  usage_analytics: usageAnalyticsSource,
};

/** The names of the columns that exports of a kind have by themselves. */
export const exportColumnsOf = (type: ExportType): readonly string[] =>
  exportSources[type].columns([]).map(({ name }) => name);
