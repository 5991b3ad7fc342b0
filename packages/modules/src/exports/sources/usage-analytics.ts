import { sql } from 'kysely';
import { customerRecords } from '../../customers/index.ts';
import { featureRecords } from '../../features/index.ts';
import { usageAnalytics, usageTables } from '../../usage/index.ts';
import { type Cell, columnsOf, type ExportColumn, type ExportRow, summedColumns } from '../rows.ts';
import { metadataCells, metadataColumns } from './metadata.ts';
import type { ExportReads, ExportSource } from './source.ts';

/** The columns of the contract (E 23.3). */
const columns: readonly ExportColumn[] = [
  ...columnsOf('text', 'customer_name', 'customer_id', 'customer_external_id'),
  ...columnsOf('instant', 'start_time', 'end_time'),
  ...columnsOf('text', 'feature_name', 'feature_id', 'feature_group_name', 'event_name'),
  ...columnsOf('integer', 'event_count'),
  ...columnsOf('text', 'aggregation_field'),
  ...columnsOf('decimal', 'total_usage', 'total_cost'),
  ...columnsOf('text', 'currency', 'source'),
];

/** The customers who used something in the window, in the order of their ids. */
async function* customersOf({ run, reads }: ExportReads): AsyncGenerator<readonly string[]> {
  const portions = reads.facts(usageTables, (from) =>
    from
      .selectFrom('event')
      .innerJoin('account', 'account.number', 'event.account')
      .select('account.customer_id')
      .distinct()
      .where('event.environment', '=', (environments) =>
        environments
          .selectFrom('environment')
          .select('environment.number')
          .where('environment.environment_id', '=', run.environment_id),
      )
      .where(
        sql<boolean>`event.at >= ${run.start}::timestamptz and event.at < ${run.end}::timestamptz`,
      )
      .where('account.customer_id', 'is not', null)
      .orderBy('account.customer_id'),
  );
  for await (const portion of portions) {
    yield portion.flatMap(({ customer_id }) => (customer_id === null ? [] : [customer_id]));
  }
}

/** The features of a customer that were used in the window, by source, with what that costs. */
async function rowsOf({ run, context, chargesOf }: ExportReads, customerId: string) {
  const found = await context.read.findMany(customerRecords.table, [customerId]);
  const customer = found.get(customerId);
  const { items, currency } = await usageAnalytics(context, chargesOf, {
    customer_id: customerId,
    start_time: run.start,
    end_time: run.end,
    group_by: ['source'],
    expand: ['meter', 'feature'],
    include_children: false,
  });
  return items.map((item): ExportRow => {
    const cells: Cell[] = [
      ...[customer?.name ?? null, customerId, customer?.external_id ?? null, run.start, run.end],
      ...[item.name ?? null, item.feature_id ?? null, item.group?.name ?? null, item.event_name],
      ...[item.event_count, item.meter?.aggregation.field ?? null, item.total_usage],
      ...[item.total_cost ?? null, item.currency ?? currency ?? null, item.source ?? null],
    ];
    return [...cells, ...metadataCells(run, customer?.metadata ?? {}, [])];
  });
}

/** The usage whose time lies in the window, by customer, feature and source, as it is when the run is carried out (E 23.3). */
export const usageAnalyticsSource: ExportSource = {
  columns: (fields) => [...columns, ...metadataColumns(fields)],
  summed: (all) => summedColumns(all, 'currency', 'total_cost'),
  tables: [customerRecords.table.name, featureRecords.table.name],
  needsUsage: true,
  async *rows(reads) {
    for await (const customers of customersOf(reads)) {
      for (const id of customers) yield await rowsOf(reads, id);
    }
  },
  late: () => Promise.resolve(null),
};
