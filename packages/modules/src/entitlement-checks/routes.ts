import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import type { GrantsOf } from '../entitlements/index.ts';
import { KnownLookups, RecentUsage, SharedReadings } from '../usage/index.ts';
import { checkEntitlement } from './check.ts';
import { type Recording, recordUse } from './record-use.ts';
import {
  checkEntitlementSchema,
  type EntitlementCheck,
  entitlementCheckSchema,
  entitlementChecksSchema,
  entitlementQuestionsSchema,
} from './schema.ts';

const tag = 'Entitlements';
const question = { customer_id: newRecord('cust'), feature_id: newRecord('feat') };
const otherNames = {
  external_customer_id: 'cust.external_id',
  feature_lookup_key: 'feat.lookup_key',
  wallet_id: 'wallet',
} as const;

/** The routes that tell whether a customer may use something, and record that it does. */
export function entitlementCheckRoutes(grantsOf: GrantsOf) {
  const recording: Recording = {
    grantsOf,
    ingesting: { recent: new RecentUsage(), lookups: new KnownLookups() },
    readings: new SharedReadings(),
  };
  return {
    'POST /entitlements/check': route({
      summary: 'Check whether a customer may use a feature',
      description:
        'Or whether a wallet has so many credits. With `record` the use is recorded if it is allowed: a hard limit is then ' +
        'never passed, however many ask at once.',
      operationId: 'checkEntitlement',
      tag,
      status: 200,
      permission: 'entitlement:read',
      keyField: 'event_id',
      body: checkEntitlementSchema,
      response: entitlementCheckSchema,
      example: { body: question, names: otherNames, texts: ['event_id'] },
      handle: (context, { body }) =>
        body.record
          ? recordUse(context, recording, body)
          : checkEntitlement(context, grantsOf, body),
    }),
    'POST /entitlements/check/bulk': route({
      summary: 'Check several entitlements',
      description: 'In the order of the questions. One that cannot be answered refuses all.',
      operationId: 'checkEntitlements',
      tag,
      status: 200,
      permission: 'entitlement:read',
      body: entitlementQuestionsSchema,
      response: entitlementChecksSchema,
      example: {
        body: { items: [question] },
        names: {
          'items.0.external_customer_id': 'cust.external_id',
          'items.0.feature_lookup_key': 'feat.lookup_key',
          'items.0.wallet_id': 'wallet',
        },
      },
      handle: async (context, { body }) => {
        const items: EntitlementCheck[] = [];
        for (const one of body.items) items.push(await checkEntitlement(context, grantsOf, one));
        return { items };
      },
    }),
  } satisfies Routes;
}
