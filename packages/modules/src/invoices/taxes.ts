import { type AskingContext, where } from '@counterfoil/engine/define';
import { type AppliedTaxId, derivedId } from '@counterfoil/kernel';
import { customer } from '../customers/index.ts';
import {
  type AssociationRecord,
  type TaxEntity,
  type TaxExemption,
  taxAssociation,
  taxAssociationRecords,
  taxRate,
} from '../taxes/index.ts';
import type { BilledTax } from './bill.ts';
import type { TaxCalculation, TaxContext, TaxedInvoice } from './tax-calculation.ts';

/** Associations that are asked for at once; whoever has more is asked again for ten times as many. */
const usualMaximum = 100;

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
  context: Pick<AskingContext, 'read' | 'recalled'>,
  owners: readonly (readonly [TaxEntity, string])[],
  { currency, at }: TaxedInvoice,
): Promise<readonly AssociationRecord[]> {
  const isOwned = new Set(owners.map(([type, id]) => `${type} ${id}`));
  const ids = await idsOfAssociations(
    context,
    owners.map(([, id]) => id),
  );
  const { recalled } = context;
  const found = await Promise.all(ids.map((id) => recalled.load(taxAssociation, id)));
  return found
    .flatMap((each) => (each?.status === 'published' ? [each] : []))
    .filter(
      (each) =>
        isOwned.has(`${each.entity_type} ${each.entity_id}`) &&
        each.auto_apply &&
        (each.currency === null || each.currency === currency) &&
        (each.start_date === null || each.start_date <= at) &&
        (each.end_date === null || each.end_date > at),
    )
    .toSorted(byPriority);
}

/**
 * The ids of all associations of some owners. One question for all owners, of an index alone: most invoices have no taxes, or those of the
 * tenant.
 */
async function idsOfAssociations(
  { read }: Pick<AskingContext, 'read'>,
  owners: readonly string[],
): Promise<readonly string[]> {
  const filters = where('entity_id', 'in', owners);
  for (let maximum = usualMaximum; ; maximum *= 10) {
    const ids = await read.ids(taxAssociationRecords.table, filters, maximum);
    if (ids.length < maximum) return ids;
  }
}

type Prior = Pick<AssociationRecord, 'id' | 'priority'>;

const byPriority = (left: Prior, right: Prior): number =>
  left.priority - right.priority || (left.id < right.id ? -1 : 1);

async function taxBy(
  context: Pick<AskingContext, 'load'>,
  { id: invoiceId }: TaxedInvoice,
  { id: associationId, tax_rate_id }: Pick<AssociationRecord, 'id' | 'tax_rate_id'>,
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
