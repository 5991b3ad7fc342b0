import { type Decision, type Instant, invalidOperation, invariant } from '@counterfoil/kernel';
import type { CreatedData, SubscriptionEvent } from '../events.ts';
import { foldAll, type Subscription, type SubscriptionState } from '../subscription.ts';
import { type HeirData, heirsOf, isInherited } from './family.ts';
import { type FollowedType, followedTypes } from './followed.ts';

type Decided = Decision<SubscriptionState, SubscriptionEvent>;
type Followed = Extract<SubscriptionEvent, { type: FollowedType }>;

const isFollowed = (event: SubscriptionEvent): event is Followed =>
  (followedTypes as readonly string[]).includes(event.type);

/**
 * The events of a decision, and with them what those who inherit the subscription have to be told of it. Nothing to tell, or
 * nobody to tell it to: the events as they are.
 *
 * @param before the subscription before the events; null where they begin with its creation
 */
export function toldToHeirs(
  before: SubscriptionState,
  events: readonly SubscriptionEvent[],
): readonly SubscriptionEvent[] {
  const [first] = events;
  const heirs =
    before === null
      ? first?.type === 'SubscriptionCreated'
        ? first.data.family.heirs
        : []
      : heirsOf(before);
  if (heirs.length === 0) return events;
  const told = events.filter(isFollowed).map(withoutLines);
  if (told.length === 0) return events;
  const ids = heirs.map(({ subscription_id }) => subscription_id);
  return [...events, { type: 'HeirsTold', data: { heirs: ids, events: told } }];
}

/** An event without what somebody who inherits the subscription does not have. */
function withoutLines(event: Followed): Followed {
  switch (event.type) {
    case 'SubscriptionActivated':
      return { ...event, data: { ...event.data, lines: [], grants: [], addons: [], coupons: [] } };
    case 'TrialMoved':
      return { ...event, data: { ...event.data, lines: [], grants: [], addons: [] } };
    case 'PauseEnded': {
      const nothing = { lines: [], addons: [], cancel_at: null, change_at: null, schedules: [] };
      return { ...event, data: { ...event.data, ...nothing } };
    }
    case 'SubscriptionCancelled':
      return {
        ...event,
        data: { ...event.data, lines: [], applications: [], grants: [], addons: [], schedules: [] },
      };
    default:
      return event;
  }
}

/** Lives through what the parent has (E 10.9). One that inherits no more does not, and none is there, no events. */
export const follow =
  (told: readonly { readonly type: string; readonly data?: unknown }[]): Decided =>
  (state) => {
    if (state === null || !isInherited(state)) return [];
    const events: SubscriptionEvent[] = [];
    let current: Subscription = state;
    for (const event of told as readonly Followed[]) {
      if (!isFor(current, event)) continue;
      events.push(event);
      current = foldAll(current, [event]);
    }
    return events;
  };

/** Tells whether an event still means something to one who inherits. */
function isFor({ status, subscription_status, pauses }: Subscription, event: Followed): boolean {
  if (status !== 'published' || subscription_status === 'cancelled') return false;
  if (event.type !== 'PauseEnded' && event.type !== 'PauseEndChanged') return true;
  return pauses.some(({ id }) => id === event.data.pause_id);
}

/** The terms of a subscription as somebody has them who inherits it: nothing is charged or given for it. */
export const inheritedTerms = (
  terms: CreatedData,
  { subscription_id: id, customer_id }: HeirData,
): CreatedData => ({
  ...terms,
  id,
  customer_id,
  lines: [],
  entitlements: [],
  grants: [],
  addons: [],
  tax_associations: [],
  coupons: [],
  follows: undefined,
  lookup_key: null,
  metadata: {},
  gateway_payment_method_id: null,
  family: {
    // Whoever pays for the subscription pays for what others use of it.
    invoicing_customer_id: terms.family.invoicing_customer_id ?? terms.customer_id,
    parent: { subscription_id: terms.id, relation: 'inherited' },
    heirs: [],
    grouped: [],
  },
});

/** The terms of a subscription at an instant, for those who inherit it from then on. */
export function termsOf(current: Subscription, at: Instant): CreatedData {
  const { plan_id, plan_name, currency, cycle, end_date, timezone } = current;
  const { billing_cycle, billing_anchor, trial_days, customer_id, id } = current;
  const isOnTrial = current.subscription_status === 'trialing';
  return {
    id,
    is_draft: false,
    customer_id,
    plan_id,
    plan_name,
    currency,
    metadata: {},
    lookup_key: null,
    start_date: at > current.start_date ? at : current.start_date,
    cycle,
    trial: isOnTrial ? current.trial : null,
    end_date,
    timezone,
    billing_cycle,
    billing_anchor,
    trial_days,
    proration_behavior: current.proration_behavior,
    collection_method: current.collection_method,
    // Whoever joins one that is paid for waits for nothing.
    payment_behavior: isOnTrial ? current.payment_behavior : 'default_active',
    payment_terms: current.payment_terms,
    gateway_payment_method_id: null,
    lines: [],
    entitlements: [],
    grants: [],
    addons: [],
    commitment: null,
    auto_invoice_threshold: null,
    tax_associations: [],
    coupons: [],
    phases: [],
    family: {
      invoicing_customer_id: current.family.invoicing_customer_id,
      parent: null,
      heirs: [],
      grouped: [],
    },
  };
}

/** Refuses a command to a subscription that has no life of its own. */
export function assertNotInherited({ id, family }: Subscription): void {
  if (family.parent?.relation !== 'inherited') return;
  throw invalidOperation(
    `Subscription ${id} is inherited from ${family.parent.subscription_id}: change that one.`,
    { reason: 'inherited' },
  );
}

/** Creates what a customer has who inherits a subscription. Created, no event. */
export const inherit =
  (
    terms: CreatedData,
    opened: Extract<SubscriptionEvent, { type: 'PeriodOpened' }>['data'] | null,
  ): Decided =>
  (state) => {
    if (state !== null) return [];
    invariant(terms.family.parent !== null, `${terms.id} inherits nothing`);
    const created: SubscriptionEvent = { type: 'SubscriptionCreated', data: terms };
    return opened === null ? [created] : [created, { type: 'PeriodOpened', data: opened }];
  };

/** Ends what a customer has by another subscription. Over, no event. */
export const disinherit =
  (at: Instant): Decided =>
  (state) => {
    if (state === null || state.subscription_status === 'cancelled') return [];
    const { opened } = state;
    const closed: SubscriptionEvent[] =
      opened === null ? [] : [{ type: 'PeriodClosed', data: { ...opened, end: at } }];
    const ended = { effective_at: at, cause: 'request', reason: null } as const;
    const nothing = { lines: [], applications: [], grants: [], addons: [], schedules: [] };
    return [...closed, { type: 'SubscriptionCancelled', data: { ...ended, ...nothing } }];
  };
