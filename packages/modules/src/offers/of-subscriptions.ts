import type { Projection, RequestContext } from '@counterfoil/engine/define';
import { type Instant, notFound } from '@counterfoil/kernel';
import type { CreateEntitlement, Entitlement, UpdateEntitlement } from './entitlement/schema.ts';
import type { CreateCreditGrant, CreditGrant, UpdateCreditGrant } from './grant/schema.ts';
import { creditGrantTable, entitlementTable } from './projection.ts';

type Table<Resource, Like> =
  Like extends Projection<string, infer _Row, Resource, infer Columns>
    ? // biome-ignore lint/suspicious/noExplicitAny: whoever owns the table knows its rows.
      Projection<string, any, Resource, Columns>
    : never;

export type EntitlementTable = Table<Entitlement, typeof entitlementTable>;
export type CreditGrantTable = Table<CreditGrant, typeof creditGrantTable>;

/**
 * The entitlements and grants of credits that subscriptions have of their own. The slice that knows
 * subscriptions keeps them in their streams, because this one stands below it; a request that names one is theirs.
 */
export interface OfSubscriptions {
  readonly entitlements: EntitlementTable;
  readonly grants: CreditGrantTable;
  /** Creates entitlements of one subscription, all or none; throws a Problem as for those of offers. */
  createEntitlements(
    context: RequestContext,
    subscriptionId: string,
    requests: readonly CreateEntitlement[],
    /** True for a request with one item in its body, whose problems point into that. */
    isSingle: boolean,
  ): Promise<readonly Entitlement[]>;
  updateEntitlement(
    context: RequestContext,
    shown: Entitlement,
    request: UpdateEntitlement,
  ): Promise<Entitlement>;
  deleteEntitlement(context: RequestContext, shown: Entitlement): Promise<void>;
  createGrant(
    context: RequestContext,
    subscriptionId: string,
    request: CreateCreditGrant,
  ): Promise<CreditGrant>;
  updateGrant(
    context: RequestContext,
    shown: CreditGrant,
    request: UpdateCreditGrant,
  ): Promise<CreditGrant>;
  /** Ends a grant. Credits that were granted stay. Gives the instant from which on it gives nothing. */
  endGrant(
    context: RequestContext,
    shown: CreditGrant,
    effective: Instant | null,
  ): Promise<Instant>;
}

/** No subscriptions: none is found. */
export const noSubscriptions: OfSubscriptions = {
  entitlements: entitlementTable,
  grants: creditGrantTable,
  createEntitlements: (_context, id) => Promise.reject(notFound('subscription', id, 'entity_id')),
  updateEntitlement: (_context, { id }) => Promise.reject(notFound('entitlement', id)),
  deleteEntitlement: (_context, { id }) => Promise.reject(notFound('entitlement', id)),
  createGrant: (_context, id) => Promise.reject(notFound('subscription', id, 'subscription_id')),
  updateGrant: (_context, { id }) => Promise.reject(notFound('credit grant', id)),
  endGrant: (_context, { id }) => Promise.reject(notFound('credit grant', id)),
};
