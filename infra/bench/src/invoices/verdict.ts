import { setTimeout as pause } from 'node:timers/promises';
import { type Demo, OperatorError } from '@counterfoil/cli/settings';
import { api } from '../api.ts';
import {
  centsIn,
  type Entry,
  type Expected,
  gapsIn,
  type ShownInvoice,
  wrongDebits,
  wrongFigures,
} from './books.ts';
import type { Sold, SoldSubscription } from './sold.ts';

const pageMaximum = 1_000;
const pollMilliseconds = 100;
const givenUpMilliseconds = 1_800_000;
const faultsMaximum = 20;

/** Invoices that one step makes. */
export interface Prefix {
  readonly reason: 'SUBSCRIPTION_CREATE' | 'SUBSCRIPTION_CYCLE';
  readonly status: 'DRAFT' | 'FINALIZED';
}

interface Found<Item> {
  readonly items: readonly Item[];
  readonly pagination: { readonly total: number };
}

/** Waits until so many invoices have come so far. */
export const untilInvoices = (
  demo: Demo,
  { reason, status }: Prefix,
  count: number,
): Promise<void> =>
  untilThere(demo, '/invoices/search', count, {
    billing_reason: reason,
    invoice_status: [status],
  });

const debits = { type: 'debit', transaction_reason: 'CREDIT_ADJUSTMENT' };

/** Waits until invoices have debited so many wallets. */
export const untilDebited = (demo: Demo, count: number): Promise<void> =>
  untilThere(demo, '/wallets/transactions/search', count, debits);

async function untilThere(demo: Demo, path: string, count: number, filters: object) {
  const deadline = performance.now() + givenUpMilliseconds;
  let seen = 0;
  while (performance.now() < deadline) {
    const page = await api<Found<unknown>>(demo, 'POST', path, { limit: 1, ...filters });
    seen = page.pagination.total;
    if (seen >= count) return;
    await pause(pollMilliseconds);
  }
  throw new OperatorError(`There are ${seen} of ${count} at ${path}.`);
}

/** All invoices of a reason. */
export const allInvoices = (
  demo: Demo,
  billing_reason: Prefix['reason'],
): Promise<readonly ShownInvoice[]> => all(demo, '/invoices/search', { billing_reason });

async function all<Item>(demo: Demo, path: string, filters: object): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (;;) {
    const body = { limit: pageMaximum, offset: found.length, ...filters };
    const { items } = await api<Found<Item>>(demo, 'POST', path, body);
    found.push(...items);
    if (items.length < pageMaximum) return found;
  }
}

interface Books {
  readonly usual: (sold: SoldSubscription) => Expected;
  readonly wide: () => Expected;
}

/** Holds every invoice of a step against the books: one for each subscription, its figures, and numbers without gaps. */
export async function invoiceFaults(
  demo: Demo,
  { usual, wide }: Sold,
  { reason, status }: Prefix,
  books: Books,
): Promise<readonly string[]> {
  const invoices = await allInvoices(demo, reason);
  const ofSubscription = Map.groupBy(invoices, ({ subscription_id }) => subscription_id);
  const wanted: readonly (readonly [string, Expected])[] = [
    ...usual.map((sold) => [sold.id, books.usual(sold)] as const),
    ...wide.map((id) => [id, books.wide()] as const),
  ];
  const faults = wanted.flatMap(([id, expected]) => {
    const [one, ...more] = ofSubscription.get(id) ?? [];
    if (one === undefined || more.length > 0) return [`${id} has ${more.length + 1} of ${reason}`];
    if (one.invoice_status !== status) return [`${one.id} is ${one.invoice_status}`];
    return wrongFigures(one, expected);
  });
  const count = invoices.length === wanted.length ? [] : [`${invoices.length} are there`];
  const gaps = gapsIn(invoices.map(({ invoice_number }) => invoice_number));
  return [...count, ...gaps, ...faults].slice(0, faultsMaximum);
}

/** Holds all debits of invoices against the books, and all balances. */
export async function debitFaults(demo: Demo, { usual }: Sold): Promise<readonly string[]> {
  const invoices = await allInvoices(demo, 'SUBSCRIPTION_CYCLE');
  const ofSubscription = new Map(invoices.map((each) => [each.subscription_id ?? '', each]));
  const entries = await all<Entry>(demo, '/wallets/transactions/search', debits);
  const wallets = await all<{ id: string; credit_balance: string }>(demo, '/wallets/search', {});
  const left = wallets.filter(({ credit_balance }) => centsIn(credit_balance) !== 0);
  return [
    ...wrongDebits(entries, ofSubscription, usual),
    ...(entries.length === usual.length ? [] : [`${entries.length} debits`]),
    ...left.map(({ id, credit_balance }) => `${id} has ${credit_balance} left`),
  ].slice(0, faultsMaximum);
}
