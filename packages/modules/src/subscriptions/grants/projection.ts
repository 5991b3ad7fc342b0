import { projection, type RecordedEvent } from '@counterfoil/engine/define';
import {
  type CreditGrantId,
  createdStamps,
  type DecimalText,
  type Instant,
  invariant,
  type Metadata,
  type RecordStamps,
  updatedStamps,
  withoutNulls,
} from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { subscription } from '../subscription.ts';
import type { SubscriptionStatus } from '../values.ts';
import {
  type Application,
  applicationId,
  applicationOf,
  creditsAt,
  type GrantData,
} from './grant.ts';
import type { GrantApplication } from './schema.ts';

type Event = RecordedEvent<SubscriptionEvent>;

/** An application of a grant, with what its row shows of its subscription. */
interface ApplicationRow {
  readonly application: Application;
  readonly subscription_id: string;
  readonly customer_id: string;
  readonly grant_id: CreditGrantId;
  readonly is_recurring: boolean;
  readonly credits: string;
  readonly metadata: Metadata;
  /** False for one of a draft. */
  readonly is_live: boolean;
  readonly outcome: 'pending' | 'applied' | 'skipped' | 'cancelled';
  readonly applied_at: Instant | null;
  readonly subscription_status: SubscriptionStatus | null;
  readonly stamps: RecordStamps;
}

/** The applications that an event brings, or brings to an end. */
function touchedApplications(event: Event): readonly string[] {
  switch (event.type) {
    case 'SubscriptionCreated':
    case 'SubscriptionActivated':
    case 'TrialMoved':
      return event.data.grants.map(({ id }) => applicationId(id, 0));
    case 'AddonAttached':
      return event.data.grants.map(({ first }) => first.application_id);
    case 'GrantAdded':
      return [event.data.first.application_id];
    case 'GrantChanged':
      return event.data.application === null ? [] : [event.data.application];
    case 'CreditsGranted':
    case 'CreditsSkipped': {
      const { application_id, next } = event.data;
      return next === null ? [application_id] : [application_id, next.application_id];
    }
    case 'AddonEnded':
    case 'SubscriptionCancelled':
      return event.data.applications;
    default:
      return [];
  }
}

/** The row of an application after an event that touches it. */
function applicationAfter(
  row: ApplicationRow | null,
  event: Event,
  key: string,
): ApplicationRow | null {
  if (event.type === 'SubscriptionCreated') {
    const { id, customer_id, timezone, is_draft, grants } = event.data;
    const grant = grants.find((each) => applicationId(each.id, 0) === key);
    const host = { subscription_id: id, customer_id, is_live: !is_draft };
    return grant ? firstRow(event, host, grant, applicationOf(grant, 0, timezone)) : null;
  }
  if (event.type === 'AddonAttached') {
    const grant = event.data.grants.find(({ first }) => first.application_id === key);
    const { customer_id } = event.data.change;
    const host = { subscription_id: event.aggregate_id, customer_id, is_live: true };
    return grant ? firstRow(event, host, grant, grant.first) : null;
  }
  if (event.type === 'GrantAdded') {
    const { customer_id, first, ...grant } = event.data;
    const host = { subscription_id: event.aggregate_id, customer_id, is_live: true };
    return firstRow(event, host, grant, first);
  }
  const isApplied = event.type === 'CreditsGranted' || event.type === 'CreditsSkipped';
  if (isApplied && event.data.next?.application_id === key) {
    return nextRow(event, event.data.next);
  }
  invariant(row, `the application ${key} ends before it exists`);
  const stamps = { ...row.stamps, ...updatedStamps(event.stamp) };
  switch (event.type) {
    case 'TrialMoved':
    case 'SubscriptionActivated': {
      const grant = event.data.grants.find(({ first }) => first.application_id === key);
      invariant(grant, `the application ${key} is of no grant`);
      return { ...row, stamps, application: grant.first, is_live: true };
    }
    case 'CreditsGranted': {
      const { expires_at, subscription_status } = event.data;
      const { occurred_at: applied_at } = event.stamp;
      const isLate = expires_at !== null && expires_at <= applied_at;
      const outcome = isLate ? 'skipped' : 'applied';
      return { ...row, stamps, outcome, applied_at, subscription_status };
    }
    case 'CreditsSkipped': {
      const { subscription_status } = event.data;
      return { ...row, stamps, outcome: 'skipped', subscription_status };
    }
    case 'AddonEnded':
    case 'GrantChanged':
    case 'SubscriptionCancelled':
      return { ...row, stamps, outcome: 'cancelled' };
    default:
      return row;
  }
}

const firstRow = (
  { stamp }: Event,
  host: Pick<ApplicationRow, 'subscription_id' | 'customer_id' | 'is_live'>,
  grant: GrantData,
  application: Application,
): ApplicationRow => ({
  ...host,
  application,
  grant_id: grant.id,
  is_recurring: grant.period !== null,
  credits: creditsAt(grant, 0),
  metadata: grant.metadata,
  outcome: 'pending',
  applied_at: null,
  subscription_status: null,
  stamps: createdStamps(stamp),
});

const nextRow = (
  { data, stamp, aggregate_id }: Extract<Event, { type: 'CreditsGranted' | 'CreditsSkipped' }>,
  { credits, ...application }: Application & { readonly credits?: DecimalText | undefined },
): ApplicationRow => ({
  application,
  subscription_id: aggregate_id,
  customer_id: data.customer_id,
  grant_id: data.grant_id,
  is_recurring: data.is_recurring,
  credits: credits ?? data.credits,
  metadata: {},
  is_live: true,
  outcome: 'pending',
  applied_at: null,
  subscription_status: null,
  stamps: createdStamps(stamp),
});

function view({ application, stamps, ...row }: ApplicationRow): GrantApplication {
  const first = row.is_recurring
    ? ('first_time_recurring_credit_grant' as const)
    : ('onetime_credit_grant' as const);
  return withoutNulls({
    id: application.application_id,
    ...stamps,
    status: 'published' as const,
    credit_grant_id: row.grant_id,
    subscription_id: row.subscription_id,
    credits: Number(row.credits),
    exact_credits: row.credits,
    scheduled_for: application.period_start,
    applied_at: row.outcome === 'applied' ? row.applied_at : null,
    period_start: application.period_start,
    period_end: application.period_end,
    application_status: row.outcome,
    application_reason: application.index === 0 ? first : ('recurring_credit_grant' as const),
    subscription_status_at_application: row.subscription_status,
    failure_reason: row.outcome === 'skipped' ? skippedBecause(row) : null,
    retry_count: 0,
    idempotency_key: application.application_id,
    metadata: row.metadata,
  });
}

const skippedBecause = ({
  subscription_status,
}: Pick<ApplicationRow, 'subscription_status'>): string =>
  subscription_status === 'paused'
    ? 'The subscription was paused.'
    : 'The credits had expired before they were given.';

/** One row per application of a grant of credits: those that were, and the next of each. */
export const grantApplicationTable = projection(subscription, {
  name: 'credit_grant_applications',
  version: 3,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    customer_id: { type: 'text', of: (_shown, row) => row.customer_id, index: true },
    application_status: { type: 'text', of: (shown) => shown.application_status },
    scheduled_for: { type: 'timestamptz', of: (shown) => shown.scheduled_for },
    is_live: { type: 'boolean', of: (_shown, row) => row.is_live },
  },
  keys: touchedApplications,
  fold: applicationAfter,
  view,
  rests: ({ outcome }: ApplicationRow) => outcome !== 'pending',
});
