import {
  type FilterOf,
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import {
  type CustomerId,
  type DecimalText,
  invalidField,
  notFound,
  recordStatusSchema,
  zeroText,
} from '@counterfoil/kernel';
import { customersWith } from '../customers/index.ts';
import { entryExpansion } from './expansion.ts';
import { settledWallet } from './ledger/due.ts';
import { transactionTable, walletTable } from './projection.ts';
import type {
  ExpandedTransaction,
  TransactionsQuery,
  TransactionsSearch,
  WalletResource,
  WalletSearch,
} from './schema.ts';
import { availableIn, type Wallet, wallet } from './wallet.ts';

/** One wallet, closed ones included. Throws 404. */
export async function getWallet(
  context: RequestContext,
  id: string,
): Promise<Found<WalletResource>> {
  const found = await context.read.find(walletTable, id);
  if (!found) throw notFound('wallet', id);
  return found;
}

/**
 * A wallet as the log has it now, with the credits that it can spend: the balance less holds. Everything that has ended by now
 * counts as ended, however late it is booked; a wallet that is not active has nothing to spend. Throws 404.
 */
export async function spendableWallet(
  context: Pick<RequestContext, 'load' | 'now'>,
  id: string,
): Promise<{ readonly wallet: Wallet; readonly spendable: DecimalText }> {
  const state = await context.load(wallet, id);
  if (!state) throw notFound('wallet', id);
  const credits = availableIn(settledWallet(state, context.now));
  return { wallet: state, spendable: state.wallet_status === 'active' ? credits : zeroText };
}

/** A page of wallets. Nobody's wallets are found for a customer that does not exist. */
export async function searchWallets(
  context: RequestContext,
  { status, ...search }: WalletSearch,
): Promise<Page<WalletResource>> {
  const ofRecord = recordStatusSchema.safeParse(status).data;
  const page = { ...search, status: ofRecord };
  return context.read.list(walletTable, pageRequest(walletTable, page), [
    ...searchFilters(walletTable, page),
    ...where('id', 'in', search.wallet_ids),
    ...where('customer_id', 'eq', search.customer_id),
    ...where('customer_id', 'in', await customersWith(context, search.external_customer_id)),
    ...where('currency', 'eq', search.currency),
    ...where('wallet_status', 'eq', search.wallet_status),
    ...where('wallet_status', 'eq', ofRecord ? undefined : status),
    ...where('wallet_type', 'eq', search.wallet_type),
    ...where('alert_enabled', 'eq', search.alert_enabled),
  ]);
}

/** The most wallets that one customer's list shows: one per currency and type, and the closed ones. */
const customerWalletsMaximum = 1000;

/** All wallets of a customer, newest first. */
export async function walletsOf(
  context: Pick<RequestContext, 'read'>,
  customerId: CustomerId,
): Promise<WalletResource[]> {
  const page = { limit: customerWalletsMaximum, offset: 0 };
  const filters = where('customer_id', 'eq', customerId);
  return (await context.read.list(walletTable, page, filters)).items;
}

/** A page of the ledger of one wallet. Throws 404 for an unknown wallet (D27). */
export async function listTransactions(
  context: RequestContext,
  walletId: string,
  query: TransactionsQuery & Expanding,
): Promise<Page<ExpandedTransaction>> {
  assertConsistent(query);
  await getWallet(context, walletId);
  const page = await context.read.list(transactionTable, pageRequest(transactionTable, query), [
    ...where('wallet_id', 'eq', walletId),
    ...searchFilters(transactionTable, periodOf(query), 'effective_at'),
    ...entryFilters(query),
    ...where('transaction_reason', 'in', query.transaction_reason),
  ]);
  return { ...page, items: await entryExpansion.show(context, page.items, query.expand) };
}

/** A page of the entries of all wallets of the environment. */
export async function searchTransactions(
  context: RequestContext,
  search: TransactionsSearch & Expanding,
): Promise<Page<ExpandedTransaction>> {
  assertConsistent(search);
  const page = await context.read.list(transactionTable, pageRequest(transactionTable, search), [
    ...searchFilters(transactionTable, search, 'effective_at'),
    ...entryFilters(search),
    ...where('wallet_id', 'eq', search.wallet_id),
    ...where('customer_id', 'eq', search.customer_id),
    ...where('transaction_reason', 'eq', search.transaction_reason),
  ]);
  return { ...page, items: await entryExpansion.show(context, page.items, search.expand) };
}

const periodOf = ({ start_time, end_time }: TransactionsQuery) => ({ start_time, end_time });

type EntryFilters = Omit<TransactionsQuery, 'limit' | 'offset' | 'sort' | 'transaction_reason'>;

/** A request that may ask for related records. */
interface Expanding {
  readonly expand?: readonly string[] | undefined;
}

const entryFilters = (query: EntryFilters): FilterOf<typeof transactionTable>[] => [
  ...where('id', 'eq', query.id),
  ...where('type', 'eq', query.type),
  ...where('transaction_status', 'eq', query.transaction_status),
  ...where('reference_type', 'eq', query.reference_type),
  ...where('reference_id', 'eq', query.reference_id),
  ...where('expiry_date', 'lte', query.expiry_date_before),
  ...where('expiry_date', 'gte', query.expiry_date_after),
  ...where('credits_available', 'gt', query.credits_available_gt),
  ...where('priority', 'eq', query.priority),
  ...where('created_by', 'eq', query.created_by),
];

function assertConsistent(query: EntryFilters): void {
  if (query.reference_type !== undefined && query.reference_id === undefined) {
    throw invalidField('/reference_id', 'is required with reference_type');
  }
  const { expiry_date_before: before, expiry_date_after: after } = query;
  if (before !== undefined && after !== undefined && before < after) {
    throw invalidField('/expiry_date_before', 'must not be before expiry_date_after');
  }
}
