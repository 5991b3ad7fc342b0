import {
  ofTable,
  pageRequest,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  searchExample,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { usageAlertTable } from '../usage/index.ts';
import { walletTable } from '../wallets/index.ts';
import { type AlertRow, alertTable } from './alert-log.ts';
import {
  type AlertEntry,
  type AlertSearch,
  alertEntrySchema,
  alertSearchSchema,
} from './schema.ts';

/** Wallets and usage alerts of one customer that a search looks at. */
const entitiesMaximum = 500;

/** The wallets and usage alerts of a customer, by which alerts of the customer are found. */
async function entitiesOf({ read }: RequestContext, customerId: string): Promise<string[]> {
  const ofCustomer = [...where('customer_id', 'eq', customerId)];
  const found = await Promise.all([
    read.ids(walletTable, ofCustomer, entitiesMaximum),
    read.ids(usageAlertTable, ofCustomer, entitiesMaximum),
  ]);
  return found.flat();
}

/** The entries with the customer and the feature that each is about. */
async function shown({ read }: RequestContext, rows: readonly AlertRow[]): Promise<AlertEntry[]> {
  const ids = (of: (row: AlertRow) => string | undefined) => [
    ...new Set(rows.flatMap((row) => of(row) ?? [])),
  ];
  const alertOf = ({ entity_type, entity_id }: AlertRow) =>
    entity_type === 'usage_alert' ? entity_id : undefined;
  const wallets = await read.findMany(
    walletTable,
    ids(({ wallet_id }) => wallet_id),
  );
  const alerts = await read.findMany(usageAlertTable, ids(alertOf));
  return rows.map((row) => {
    const alert = alerts.get(alertOf(row) ?? '');
    const { customer_id } = wallets.get(row.wallet_id ?? '') ?? alert ?? {};
    const feature_id = alert?.feature_id;
    return { ...row, ...(customer_id && { customer_id }), ...(feature_id && { feature_id }) };
  });
}

async function searchAlerts(context: RequestContext, search: AlertSearch) {
  const { customer_id, entity_id, entity_type, alert_type, alert_status } = search;
  const entities = customer_id === undefined ? undefined : await entitiesOf(context, customer_id);
  const page = await context.read.list(alertTable, pageRequest(alertTable, search), [
    ...searchFilters(alertTable, search),
    ...where('subject_id', 'in', entities),
    ...where('entity_id', 'eq', entity_id),
    ...where('entity_type', 'eq', entity_type),
    ...where('alert_type', 'eq', alert_type),
    ...where('alert_status', 'eq', alert_status),
  ]);
  return { ...page, items: await shown(context, page.items) };
}

export const alertLogRoutes = {
  'POST /alerts/search': route({
    operationId: 'searchAlerts',
    summary: 'Search alerts that were raised, and that ended',
    description:
      'Of wallets and of features that watch them, of usage thresholds, and of imports and exports that failed. The newest first.',
    tag: 'Alerts',
    status: 200,
    permission: 'alert:read',
    body: ofTable(alertTable, alertSearchSchema.meta({ id: 'AlertSearch' })),
    bodyOptional: true,
    response: pageSchema(alertEntrySchema),
    example: {
      body: searchExample,
      names: { customer_id: 'cust', entity_id: 'wallet' },
    },
    handle: (context, { body }) => searchAlerts(context, body),
  }),
} satisfies Routes;
