import { fromJson } from '@counterfoil/engine/define';
import { type SqlBool, sql } from 'kysely';
import { customerRecords } from '../../customers/index.ts';
import type { ExportRun } from '../../scheduled-tasks/index.ts';
import { type TransactionResource, transactionTable } from '../../wallets/index.ts';
import { cellsOf, columnsOf, type ExportColumn, summedColumns } from '../rows.ts';
import { effectiveIn, lateFor, recordedIn } from '../window.ts';
import type { ExportReads, ExportSource } from './source.ts';

/** The columns of the contract (E 23.3), then our own. */
const topUpColumns: readonly ExportColumn[] = [
  ...columnsOf('text', 'topup_id', 'external_id', 'name', 'wallet_id'),
  ...columnsOf('decimal', 'amount', 'credit_balance_before', 'credit_balance_after'),
  ...columnsOf('text', 'reference_id', 'transaction_reason'),
  ...columnsOf('instant', 'created_at'),
  ...columnsOf('text', 'customer_id', 'currency'),
  ...columnsOf('decimal', 'credit_amount'),
  ...columnsOf('instant', 'effective_at', 'completed_at'),
];

const ledgerColumns: readonly ExportColumn[] = [
  ...columnsOf('text', 'id', 'tenant_id', 'environment_id', 'wallet_id', 'customer_id'),
  ...columnsOf('integer', 'sequence'),
  ...columnsOf('text', 'type', 'transaction_status', 'transaction_reason'),
  ...columnsOf('decimal', 'credit_amount', 'amount'),
  ...columnsOf('text', 'currency'),
  ...columnsOf('decimal', 'conversion_rate', 'credit_balance_before', 'credit_balance_after'),
  ...columnsOf('instant', 'effective_at', 'recorded_at', 'completed_at', 'expiry_date'),
  ...columnsOf('integer', 'priority'),
  ...columnsOf('text', 'reference_type', 'reference_id', 'reverses', 'description'),
  ...columnsOf('text', 'idempotency_key', 'created_by'),
  ...columnsOf('json', 'metadata', 'drawn_from', 'returned_to'),
];

const position = sql.ref('wallet_transactions.position');
const completed = sql.ref('wallet_transactions.completed_at');
const effective = sql.ref('wallet_transactions.effective_at');
const changed = sql.ref('wallet_transactions.updated_at');

/**
 * The entries that became final in the window. An entry that was drawn from since stands at the place of the draw, so that of
 * those only the instant tells the window.
 */
function completedIn(run: ExportRun) {
  const { start, end } = run;
  const byPlace = recordedIn({ recorded: completed, position }, run);
  return sql<SqlBool>`(case when ${changed} = ${completed} then ${byPlace}
    else ${completed} >= ${start}::timestamptz and ${completed} < ${end}::timestamptz end)`;
}

const isWanted = (run: ExportRun) =>
  run.job_config.window_by === 'effective'
    ? sql<SqlBool>`(${effectiveIn(effective, sql`0`, run)}
        and (${position} <= ${run.position}::bigint or ${completed} < ${run.end}::timestamptz))`
    : completedIn(run);

/** Final entries of the ledger with the customers whose they are, in the order of the log. */
async function* entriesOf({ run, reads }: ExportReads, onlyLoads: boolean) {
  const portions = reads.rows([transactionTable, customerRecords.table], (from) =>
    from
      .selectFrom('wallet_transactions')
      .leftJoin('customers', 'customers.id', 'wallet_transactions.customer_id')
      .select(['wallet_transactions.resource', 'customers.external_id', 'customers.name'])
      .where('wallet_transactions.transaction_status', '=', 'completed')
      .$if(onlyLoads, (rows) => rows.where('wallet_transactions.type', '=', 'credit'))
      .where(isWanted(run))
      .orderBy(completed)
      .orderBy('wallet_transactions.id'),
  );
  for await (const portion of portions) {
    yield portion.map(({ resource, external_id, name }) => {
      const entry: TransactionResource = fromJson(resource);
      return { ...entry, topup_id: entry.id, external_id, name };
    });
  }
}

async function late({ run, reads }: ExportReads): Promise<number | null> {
  if (run.job_config.window_by !== 'effective') return null;
  const counted = reads.rows([transactionTable], (from) =>
    from
      .selectFrom('wallet_transactions')
      .select((row) => row.fn.countAll<string>().as('count'))
      .where('wallet_transactions.transaction_status', '=', 'completed')
      .where(lateFor(effective, position, run))
      .where(sql<SqlBool>`${completed} >= ${run.start}::timestamptz`),
  );
  for await (const [row] of counted) return +(row?.count ?? 0);
  return 0;
}

const source = (columns: readonly ExportColumn[], onlyLoads: boolean): ExportSource => ({
  columns: () => columns,
  summed: (all) => summedColumns(all, 'currency', 'amount', 'credit_amount'),
  tables: [transactionTable.name, customerRecords.table.name],
  needsUsage: false,
  async *rows(reads) {
    for await (const entries of entriesOf(reads, onlyLoads)) {
      yield entries.map((entry) => cellsOf(columns, entry));
    }
  },
  late,
});

/** Loads of credits that are final (E 23.3). */
export const creditTopUpsSource = source(topUpColumns, true);

/** All entries of the wallets' ledgers that are final. */
export const walletLedgerSource = source(ledgerColumns, false);
