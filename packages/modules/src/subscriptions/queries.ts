import {
  type FilterOf,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import { customersWith, customerWith } from '../customers/index.ts';
import { foundById } from '../record/index.ts';
import { subscriptionExpansion } from './expansion.ts';
import { type Invoicing, withLatestInvoices } from './invoicing.ts';
import { lineItemTable, settlementTable, subscriptionTable } from './projection.ts';
import type { LineItem, SettlementRecord, SubscriptionResource } from './schema.ts';
import type { lineSearchSchema, subscriptionSearchSchema } from './search-schema.ts';

type Expanding = { readonly expand?: readonly string[] | undefined };
type SubscriptionSearch = Partial<z.output<typeof subscriptionSearchSchema>> & Expanding;
type LineSearch = Partial<z.output<typeof lineSearchSchema>>;

/** One subscription with its plan, its customer and its latest invoice. Throws 404. */
export async function getSubscription(context: RequestContext, invoicing: Invoicing, id: string) {
  const found = await foundById(context, subscriptionTable, 'subscription', id);
  const resource = await shownWithInvoice(context, invoicing, found.resource);
  return { ...found, resource };
}

/** The subscription that a write answers, with its plan and its customer. */
export async function shown(
  context: RequestContext,
  resource: SubscriptionResource,
): Promise<SubscriptionResource> {
  const [expanded = resource] = await subscriptionExpansion.show(context, [resource]);
  return expanded;
}

/** The same with its latest invoice, as the tables show that. */
export async function shownWithInvoice(
  context: RequestContext,
  invoicing: Invoicing,
  resource: SubscriptionResource,
) {
  const expanded = await shown(context, resource);
  const options = { isList: false };
  const [all = expanded] = await withLatestInvoices(context, invoicing, [expanded], options);
  return all;
}

/** One page of subscriptions. Nobody's are found for a customer that does not exist. */
export async function searchSubscriptions(
  context: RequestContext,
  invoicing: Invoicing,
  search: SubscriptionSearch,
) {
  const { items, pagination } = await context.read.list(
    subscriptionTable,
    pageRequest(subscriptionTable, search),
    [
      ...searchFilters(subscriptionTable, search),
      ...subscriptionFilters(search),
      ...where('customer_id', 'in', await customersWith(context, search.external_customer_id)),
    ],
  );
  const expanded = await subscriptionExpansion.show(context, items, search.expand);
  const options = { isList: true };
  return { items: await withLatestInvoices(context, invoicing, expanded, options), pagination };
}

const subscriptionFilters = (search: SubscriptionSearch): FilterOf<typeof subscriptionTable>[] => [
  ...where('id', 'in', search.subscription_ids),
  ...where('customer_id', 'eq', search.customer_id),
  ...where('customer_id', 'in', search.customer_ids),
  ...where('invoicing_customer_id', 'in', search.invoicing_customer_ids),
  ...where('plan_id', 'eq', search.plan_id),
  ...where('subscription_status', 'in', search.subscription_status),
  ...where('subscription_status', 'not_in', search.subscription_status_not_in),
  ...where('subscription_type', 'in', search.subscription_type),
  ...where('parent_subscription_id', 'in', search.parent_subscription_ids),
  ...where('billing_cadence', 'in', search.billing_cadence),
  ...where('billing_period', 'in', search.billing_period),
  ...where('start_date', 'lte', search.active_at),
  ...where('end_date', 'gt', search.active_at),
  ...where('current_period_end', 'lte', search.effective_date_for_update),
  ...where('trial_end', 'lte', search.trial_end_due_lte),
];

/** All subscriptions of the customer with an external id, newest first. Throws 404. */
export async function subscriptionsOfExternal(
  context: RequestContext,
  invoicing: Invoicing,
  external_id: string,
  search: SubscriptionSearch,
) {
  const customer_id = await customerWith(context, external_id);
  if (customer_id === null) throw notFound('customer', external_id, 'external_id');
  return searchSubscriptions(context, invoicing, { ...search, customer_id });
}

/** One page of lines of all subscriptions. */
export const searchLines = (
  context: RequestContext,
  search: LineSearch,
): Promise<Page<LineItem>> => {
  const at = search.active_filter ? (search.current_period_start ?? context.now) : undefined;
  return context.read.list(lineItemTable, pageRequest(lineItemTable, search), [
    ...searchFilters(lineItemTable, search),
    ...where('id', 'in', search.subscription_line_item_ids),
    ...where('subscription_id', 'in', search.subscription_ids),
    ...where('customer_id', 'in', search.customer_ids),
    ...where('price_id', 'in', search.price_ids),
    ...where('meter_id', 'in', search.meter_ids),
    ...where('entity_id', 'in', search.entity_ids),
    ...where('entity_type', 'eq', search.entity_type),
    ...where('addon_association_id', 'in', search.addon_association_ids),
    ...where('currency', 'in', search.currencies),
    ...where('billing_period', 'in', search.billing_periods),
    ...where('start_date', 'lte', at),
    ...where('end_date', 'gt', at),
  ]);
};

/** One page of what was settled for a subscription, newest first unless it is sorted otherwise. Throws 404. */
export async function settlementsOf(
  context: RequestContext,
  id: string,
  asked: Parameters<typeof pageRequest>[1],
): Promise<Page<SettlementRecord>> {
  await foundById(context, subscriptionTable, 'subscription', id);
  const page = pageRequest(settlementTable, asked);
  return context.read.list(settlementTable, page, where('subscription_id', 'eq', id));
}
