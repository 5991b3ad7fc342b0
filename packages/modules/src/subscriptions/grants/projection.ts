import { projection, type RecordedEvent } from '@counterfoil/engine/define';
import {
  type CreditGrantId,
  createdStamps,
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
import { type Application, applicationId, applicationOf } from './grant.ts';
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
      return event.data.grants.map(({ id }) => applicationId(id, 0));
    case 'CreditsGranted': {
      const { application_id, next } = event.data;
      return next === null ? [application_id] : [application_id, next.application_id];
    }
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
  if (event.type === 'SubscriptionCreated') return firstRow(event, key);
  if (event.type === 'CreditsGranted' && event.data.next?.application_id === key) {
    return nextRow(event, event.data.next);
  }
  invariant(row, `the application ${key} ends before it exists`);
  const stamps = { ...row.stamps, ...updatedStamps(event.stamp) };
  switch (event.type) {
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
    case 'SubscriptionCancelled':
      return { ...row, stamps, outcome: 'cancelled' };
    default:
      return row;
  }
}

function firstRow(
  { data, stamp }: Extract<Event, { type: 'SubscriptionCreated' }>,
  key: string,
): ApplicationRow | null {
  const grant = data.grants.find(({ id }) => applicationId(id, 0) === key);
  if (!grant) return null;
  return {
    application: applicationOf(grant, 0, data.timezone),
    subscription_id: data.id,
    customer_id: data.customer_id,
    grant_id: grant.id,
    is_recurring: grant.period !== null,
    credits: grant.credits,
    metadata: grant.metadata,
    is_live: !data.is_draft,
    outcome: 'pending',
    applied_at: null,
    subscription_status: null,
    stamps: createdStamps(stamp),
  };
}

const nextRow = (
  { data, stamp, aggregate_id }: Extract<Event, { type: 'CreditsGranted' }>,
  application: Application,
): ApplicationRow => ({
  application,
  subscription_id: aggregate_id,
  customer_id: data.customer_id,
  grant_id: data.grant_id,
  is_recurring: data.is_recurring,
  credits: data.credits,
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
    failure_reason:
      row.outcome === 'skipped' ? 'The credits had expired before they were given.' : null,
    retry_count: 0,
    idempotency_key: application.application_id,
    metadata: row.metadata,
  });
}

/** One row per application of a grant of credits: those that were, and the next of each. */
export const grantApplicationTable = projection(subscription, {
  name: 'credit_grant_applications',
  version: 1,
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
