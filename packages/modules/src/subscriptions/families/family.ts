import { derivedId, type Instant, referenceSchema, type SubscriptionId } from '@counterfoil/kernel';
import { z } from 'zod';
import type { SubscriptionType } from '../values.ts';

/** A customer that inherits a subscription, with the subscription that it has by that. */
export const heirData = z.object({
  subscription_id: referenceSchema('subs'),
  customer_id: referenceSchema('cust'),
});
export type HeirData = z.output<typeof heirData>;

/** The manner in which a subscription belongs to another one (E 10.9). */
const relationSchema = z.enum(['inherited', 'grouped_invoicing']);

/** The parent of a subscription. */
export const parentData = z.object({
  subscription_id: referenceSchema('subs'),
  relation: relationSchema,
});

/** The others that a subscription is created with: who pays, which it belongs to, and which belong to it. */
export const familyData = z.object({
  /** The customer who is invoiced; null: its own. */
  invoicing_customer_id: referenceSchema('cust').nullable(),
  parent: parentData.nullable(),
  /** Those who inherit it from its beginning. */
  heirs: z.array(heirData),
  /** Subscriptions that are to be invoiced with it from its beginning. */
  grouped: z.array(referenceSchema('subs')),
});
export type FamilyData = z.output<typeof familyData>;

/** A subscription that stands alone. */
export const noFamily: FamilyData = {
  invoicing_customer_id: null,
  parent: null,
  heirs: [],
  grouped: [],
};

/** Somebody who inherits a subscription, or did. */
export interface Heir extends HeirData {
  readonly since: Instant;
  /** Null: still does. */
  readonly until: Instant | null;
}

/** The others that a subscription has to do with. */
export interface Family extends Pick<FamilyData, 'invoicing_customer_id' | 'parent'> {
  readonly heirs: readonly Heir[];
  /** Subscriptions that are invoiced with it. */
  readonly members: readonly SubscriptionId[];
}

/** Customers that one subscription is inherited by at most, and subscriptions that are invoiced with it. */
export const maximumHeirs = 100;

/** A family as it begins. Those that are to be invoiced together say so themselves. */
export const newFamily = (
  { invoicing_customer_id, parent, heirs }: FamilyData,
  since: Instant,
): Family => ({
  invoicing_customer_id,
  parent,
  heirs: heirs.map((heir) => ({ ...heir, since, until: null })),
  members: [],
});

interface InFamily {
  readonly family: Family;
}

/** A change in a family. */
type FamilyChange =
  | {
      readonly type: 'HeirsChanged';
      readonly data: {
        readonly at: Instant;
        readonly added: readonly HeirData[];
        readonly removed: readonly SubscriptionId[];
      };
    }
  | { readonly type: 'ParentChanged'; readonly data: Pick<FamilyData, 'parent'> }
  | {
      readonly type: 'MemberChanged';
      readonly data: { readonly subscription_id: SubscriptionId; readonly is_member: boolean };
    };

/** A family after something of it has changed. */
export function familyAfter(family: Family, change: FamilyChange): Family {
  switch (change.type) {
    case 'HeirsChanged': {
      const { at, added, removed } = change.data;
      const kept = family.heirs.map((heir) =>
        heir.until === null && removed.includes(heir.subscription_id)
          ? { ...heir, until: at }
          : heir,
      );
      return {
        ...family,
        heirs: [...kept, ...added.map((heir) => ({ ...heir, since: at, until: null }))],
      };
    }
    case 'ParentChanged':
      return { ...family, parent: change.data.parent };
    case 'MemberChanged': {
      const { subscription_id, is_member } = change.data;
      const others = family.members.filter((id) => id !== subscription_id);
      return { ...family, members: is_member ? [...others, subscription_id] : others };
    }
    default:
      return change satisfies never;
  }
}

/** Those who inherit a subscription now. */
export const heirsOf = ({ family }: InFamily): readonly Heir[] =>
  family.heirs.filter(({ until }) => until === null);

/** Tells whether a subscription is what a customer has by that of another one: it has no life of its own. */
export const isInherited = ({ family }: InFamily): boolean =>
  family.parent?.relation === 'inherited';

/** The customer who pays for a subscription. */
export const payerOf = <Customer extends string>({
  customer_id,
  family,
}: InFamily & { readonly customer_id: Customer }): Customer =>
  (family.invoicing_customer_id as Customer | null) ?? customer_id;

/** A customer whose usage counts for a subscription, and the time for which it does; null: without a bound. */
export interface User {
  readonly customer_id: string;
  readonly since: Instant | null;
  readonly until: Instant | null;
}

/** The customers whose usage counts for a subscription: its own, and those who inherit it as long as they do. */
export const usersOf = ({
  customer_id,
  family,
}: InFamily & { readonly customer_id: string }): readonly User[] => [
  { customer_id, since: null, until: null },
  ...family.heirs,
];

/** The kind of a subscription, as the public contract has it. */
export function typeOf({ family }: InFamily): SubscriptionType {
  if (family.parent !== null) return family.parent.relation;
  if (heirsOf({ family }).length > 0 || family.members.length > 0) return 'parent';
  return family.invoicing_customer_id === null ? 'standalone' : 'delegated_invoicing';
}

/** The family of the subscription that follows on another one: the same customers inherit it. */
export const familyAfterChange = (subscription: InFamily, next: SubscriptionId): FamilyData => ({
  invoicing_customer_id: subscription.family.invoicing_customer_id,
  parent: subscription.family.parent,
  heirs: heirsOf(subscription).map(({ customer_id }) => ({
    subscription_id: inheritedId(next, customer_id),
    customer_id,
  })),
  grouped: [...subscription.family.members],
});

/**
 * The id of the subscription that a customer has by another one.
 *
 * @param earlier the times that the customer has inherited it before: on a clock that stands, all at one instant
 */
export const inheritedId = (parent: string, customerId: string, earlier = 0): SubscriptionId =>
  derivedId('subs', `${parent}\n${customerId}\n${earlier}`);
