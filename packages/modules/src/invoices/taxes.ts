import { type AskingContext, where } from '@counterfoil/engine/define';
import { type AppliedTaxId, derivedId } from '@counterfoil/kernel';
import { customer } from '../customers/index.ts';
import {
  type Association,
  type TaxEntity,
  type TaxExemption,
  taxAssociationRecords,
  taxRate,
} from '../taxes/index.ts';
import type { BilledTax } from './bill.ts';
import type { TaxCalculation, TaxContext, TaxedInvoice } from './tax-calculation.ts';

/** Associations that are read together. */
const pageSize = 100;

/**
 * Taxes by the rates of the environment: those that a request has named, else those that are associated with the invoice. Of a customer who is exempt none of them
 * is taken, whoever names them, and the invoice says why. Of whom nothing would be taken nobody asks for an exemption.
 */
export const localTaxes: TaxCalculation = {
  taxation: async (context, { invoice, named }) => {
    const taxes = named ?? (await taxesOf(context, invoice));
    if (taxes.length === 0) return { taxes, exemption: null };
    const exemption = await exemptionOf(context, invoice.customer_id);
    return { taxes: exemption === null ? taxes : [], exemption };
  },
};

/** The exemption of a customer from taxes; null: there is none. */
export const exemptionOf = async (
  context: Pick<TaxContext, 'load'>,
  customerId: string,
): Promise<TaxExemption | null> =>
  (await context.load(customer, customerId))?.tax_exemption ?? null;

/**
 * The taxes of an invoice: what is associated with its subscription, else with who pays, else with the tenant, and applies by
 * itself, in the currency, within its dates (E 21 B). By priority, then by age.
 */
async function taxesOf(context: TaxContext, invoice: TaxedInvoice): Promise<readonly BilledTax[]> {
  const owners: readonly (readonly [TaxEntity, string])[] = [
    ...(invoice.subscription_id === null
      ? []
      : [['subscription', invoice.subscription_id] as const]),
    ['customer', invoice.customer_id],
    ['tenant', context.principal.tenantId],
  ];
  const brought = (invoice.brought ?? []).filter(
    ({ auto_apply, currency }) => auto_apply && currency === invoice.currency,
  );
  const all = await associationsOf(context, owners, invoice);
  for (const [type] of owners) {
    const isBrought = type === 'subscription' && brought.length > 0;
    const own = isBrought
      ? brought.toSorted(byPriority)
      : all.filter(({ entity_type }) => entity_type === type);
    const taxes: BilledTax[] = [];
    for (const association of own) taxes.push(...(await taxBy(context, invoice, association)));
    if (taxes.length > 0) return taxes;
  }
  return [];
}

/** The associations of any of the owners that apply, in the order in which they are shown. */
async function associationsOf(
  { read }: Pick<AskingContext, 'read'>,
  owners: readonly (readonly [TaxEntity, string])[],
  { currency, at }: TaxedInvoice,
): Promise<readonly Association[]> {
  const isOwned = new Set(owners.map(([type, id]) => `${type} ${id}`));
  // One question for all owners: most invoices have no taxes, or those of the tenant alone.
  const filters = where(
    'entity_id',
    'in',
    owners.map(([, id]) => id),
  );
  // Whether there is any is asked of an index alone.
  const [any] = await read.ids(taxAssociationRecords.table, filters, 1);
  if (any === undefined) return [];
  const found: Association[] = [];
  for (let total = 1; found.length < total; ) {
    const page = { limit: pageSize, offset: found.length };
    const { items, pagination } = await read.list(taxAssociationRecords.table, page, filters);
    found.push(...items);
    total = items.length === 0 ? 0 : pagination.total;
  }
  // One that comes while pages are read may push another from one page to the next.
  return [...new Map(found.map((each) => [each.id, each])).values()]
    .filter(
      (each) =>
        isOwned.has(`${each.entity_type} ${each.entity_id}`) &&
        each.auto_apply &&
        (each.currency === undefined || each.currency === currency) &&
        (each.start_date === undefined || each.start_date <= at) &&
        (each.end_date === undefined || each.end_date > at),
    )
    .toSorted(byPriority);
}

type Prior = Pick<Association, 'id' | 'priority'>;

const byPriority = (left: Prior, right: Prior): number =>
  left.priority - right.priority || (left.id < right.id ? -1 : 1);

async function taxBy(
  context: Pick<AskingContext, 'load'>,
  { id: invoiceId }: TaxedInvoice,
  { id: associationId, tax_rate_id }: Pick<Association, 'id' | 'tax_rate_id'>,
): Promise<readonly BilledTax[]> {
  const rate = await context.load(taxRate, tax_rate_id);
  if (rate === null || rate.tax_rate_status === 'INACTIVE') return [];
  const { tax, code, name } = rate;
  const id: AppliedTaxId = derivedId('taxapp', `${invoiceId}\n${associationId}`);
  return [
    {
      id,
      tax_rate_id,
      tax_association_id: associationId,
      code,
      name,
      percentage: tax.tax_rate_type === 'percentage' ? tax.percentage_value : null,
      fixed: tax.tax_rate_type === 'fixed' ? tax.fixed_value : null,
    },
  ];
}
