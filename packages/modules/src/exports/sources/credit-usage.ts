import { fromJson } from '@counterfoil/engine/define';
import { type DecimalText, decimal, textOf, zero } from '@counterfoil/kernel';
import { customerRecords } from '../../customers/index.ts';
import { usageOfTables } from '../../invoices/index.ts';
import { realTimeBalance } from '../../ongoing-balances/index.ts';
import { type WalletResource, walletTable } from '../../wallets/index.ts';
import { type Cell, columnsOf, type ExportColumn, type ExportRow, summedColumns } from '../rows.ts';
import { metadataCells, metadataColumns } from './metadata.ts';
import type { ExportReads, ExportSource } from './source.ts';

/** The columns of the contract (E 23.3), then the currency, which tells a customer's rows apart. */
const columns: readonly ExportColumn[] = [
  ...columnsOf('text', 'name', 'customer_external_id', 'customer_id'),
  ...columnsOf('decimal', 'current_balance', 'real_time_balance'),
  ...columnsOf('integer', 'number_of_wallets'),
  ...columnsOf('text', 'currency'),
];

/** A wallet with the customer whose it is. */
interface OwnedWallet {
  readonly wallet: WalletResource;
  readonly name: string | null;
  readonly external_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The wallets that are not closed, those of a customer and a currency side by side. */
async function* walletsOf({ reads }: ExportReads): AsyncGenerator<readonly OwnedWallet[]> {
  const portions = reads.rows([walletTable, customerRecords.table], (from) =>
    from
      .selectFrom('wallets')
      .leftJoin('customers', 'customers.id', 'wallets.customer_id')
      .select(['wallets.resource', 'customers.external_id', 'customers.name'])
      .select('customers.resource as customer')
      .where('wallets.wallet_status', '!=', 'closed')
      .orderBy('wallets.customer_id')
      .orderBy('wallets.currency')
      .orderBy('wallets.id'),
  );
  for await (const portion of portions) {
    yield portion.map(({ resource, customer, external_id, name }) => ({
      wallet: fromJson(resource),
      ...{ external_id, name },
      metadata: customer === null ? {} : fromJson(customer).metadata,
    }));
  }
}

/** The wallets of one customer in one currency. */
type Group = [OwnedWallet, ...OwnedWallet[]];

const isOfGroup = ([first]: Group, { wallet }: OwnedWallet): boolean =>
  first.wallet.customer_id === wallet.customer_id && first.wallet.currency === wallet.currency;

async function* groupsOf(reads: ExportReads): AsyncGenerator<readonly Group[]> {
  let open: Group | null = null;
  for await (const portion of walletsOf(reads)) {
    const done: Group[] = [];
    for (const owned of portion) {
      if (open && isOfGroup(open, owned)) open.push(owned);
      else {
        if (open) done.push(open);
        open = [owned];
      }
    }
    yield done;
  }
  if (open) yield [open];
}

const sumOf = (figures: readonly DecimalText[]): DecimalText =>
  textOf(figures.reduce((sum, figure) => sum.plus(decimal(figure)), zero));

async function rowOf({ context, run }: ExportReads, group: Group): Promise<ExportRow> {
  const [{ wallet, name, external_id, metadata }] = group;
  const balances = await Promise.all(
    group.map(async ({ wallet: { id } }) => realTimeBalance(context, id, usageOfTables)),
  );
  const cells: Cell[] = [
    ...[name, external_id, wallet.customer_id],
    sumOf(group.map((owned) => owned.wallet.credit_balance as DecimalText)),
    sumOf(balances.map((balance) => balance.real_time_credit_balance as DecimalText)),
    ...[group.length, wallet.currency],
  ];
  const ofWallets = group.map((owned) => owned.wallet.metadata);
  return [...cells, ...metadataCells(run, metadata, ofWallets)];
}

/** The customers whose balances are looked up at once. */
const atOnce = 16;

/** The credits of each customer in each currency, as they are when the run is carried out (E 23.3). */
export const creditUsageSource: ExportSource = {
  columns: (fields) => [...columns, ...metadataColumns(fields)],
  summed: (all) => summedColumns(all, 'currency', 'current_balance', 'real_time_balance'),
  tables: [walletTable.name, customerRecords.table.name],
  needsUsage: true,
  async *rows(reads) {
    for await (const groups of groupsOf(reads)) {
      for (let start = 0; start < groups.length; start += atOnce) {
        const some = groups.slice(start, start + atOnce);
        yield await Promise.all(some.map((group) => rowOf(reads, group)));
      }
    }
  },
  late: () => Promise.resolve(null),
};
