import { projection, type RecordedEvent } from '@counterfoil/engine/define';
import {
  createdStamps,
  earlierOf,
  type Instant,
  invariant,
  type RecordStamps,
  type RecordStatus,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { subscription } from '../subscription.ts';
import { grantView } from '../view.ts';
import type { GrantData } from './grant.ts';

type Event = RecordedEvent<SubscriptionEvent>;

/** A grant that a subscription has or had, with what its row shows of its subscription. */
interface GrantRow {
  readonly grant: GrantData;
  readonly subscription_id: string;
  /** The plan that it is of; null where that cannot be. */
  readonly plan_id: string | null;
  readonly stamps: RecordStamps;
  readonly status: RecordStatus;
}

/** The grants that an event brings. */
function broughtBy(event: Event): readonly GrantData[] {
  switch (event.type) {
    case 'SubscriptionCreated':
    case 'AddonAttached':
      return event.data.grants;
    case 'GrantAdded':
      return [event.data];
    default:
      return [];
  }
}

function touchedGrants(event: Event): readonly string[] {
  switch (event.type) {
    case 'SubscriptionActivated':
    case 'TrialMoved':
      return event.data.grants.map(({ id }) => id);
    case 'GrantChanged':
      return [event.data.grant_id];
    case 'AddonEnded':
    case 'SubscriptionCancelled':
      return event.data.grants;
    default:
      return broughtBy(event).map(({ id }) => id);
  }
}

function grantAfter(row: GrantRow | null, event: Event, key: string): GrantRow | null {
  const { stamp } = event;
  const grant = broughtBy(event).find(({ id }) => id === key);
  if (grant) {
    return {
      grant,
      subscription_id: event.aggregate_id,
      plan_id: event.type === 'SubscriptionCreated' ? event.data.plan_id : null,
      stamps: createdStamps(stamp),
      status: 'published',
    };
  }
  invariant(row, `the grant ${key} is changed before it exists`);
  const stamps = { ...row.stamps, ...updatedStamps(stamp) };
  switch (event.type) {
    case 'SubscriptionActivated':
    case 'TrialMoved': {
      const dates = event.data.grants.find(({ id }) => id === key);
      const { start_date } = dates ?? row.grant;
      return { ...row, stamps, grant: { ...row.grant, start_date } };
    }
    case 'GrantChanged': {
      const changed = withChanges<GrantData>(row.grant, event.data.changes);
      const { end_date } = changed;
      const isOver = end_date !== null && end_date <= stamp.occurred_at;
      return { ...row, stamps, grant: changed, status: isOver ? 'archived' : row.status };
    }
    case 'AddonEnded':
      return { ...row, stamps, grant: endedBy(row.grant, event.data.at) };
    case 'SubscriptionCancelled':
      return { ...row, stamps, grant: endedBy(row.grant, event.data.effective_at) };
    default:
      return row;
  }
}

const endedBy = (grant: GrantData, at: Instant): GrantData => ({
  ...grant,
  end_date: grant.end_date === null ? at : earlierOf(grant.end_date, at),
});

/** One row per grant of credits that a subscription has or had. */
export const subscriptionGrantTable = projection(subscription, {
  name: 'subscription_credit_grants',
  version: 1,
  columns: {
    name: { type: 'text', of: (shown) => shown.name },
    scope: { type: 'text', of: (shown) => shown.scope },
    entity_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    priority: { type: 'integer', of: (shown) => shown.priority },
  },
  keys: touchedGrants,
  fold: grantAfter,
  view: ({ grant, subscription_id: id, plan_id, stamps, status }: GrantRow) => ({
    ...grantView({ id, plan_id, ...stamps }, grant),
    status,
  }),
});
