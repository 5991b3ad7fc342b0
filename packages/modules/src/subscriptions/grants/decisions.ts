import {
  type CreditGrantId,
  changedFields,
  type Instant,
  invalidField,
  invalidOperation,
  isEmpty,
  laterOf,
  type Metadata,
  notFound,
} from '@counterfoil/kernel';
import { acting, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { maximumGrants } from '../schema.ts';
import { foldInto, type Subscription } from '../subscription.ts';
import { dueEvents } from '../time/due.ts';
import { applicationOf, datedGrant, type Grant, nextApplication, type OwnGrant } from './grant.ts';

/**
 * Gives a subscription a grant of credits of its own (E 19), from now on or from another instant of its life. What lies
 * behind is given at once.
 */
export const addGrant =
  (id: string, asked: OwnGrant): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      if (current.grants.length >= maximumGrants) {
        throw invalidOperation(`A subscription has at most ${maximumGrants} grants of credits.`, {
          reason: 'limit_reached',
          limit: maximumGrants,
        });
      }
      const { customer_id, timezone, end_date } = current;
      const gives_from = current.trial?.end ?? current.start_date;
      const dated = { ...asked, start_date: asked.start_date ?? now };
      const grant = datedGrant(dated, { ...current, gives_from });
      if (end_date !== null && grant.start_date >= end_date) {
        throw invalidField(`${asked.pointer}/start_date`, `must be before the end, ${end_date}`);
      }
      const first = applicationOf(grant, 0, timezone);
      const added: SubscriptionEvent = {
        type: 'GrantAdded',
        data: { ...grant, customer_id, first },
      };
      return [added, ...dueEvents(foldInto(current, added, now), now)];
    });

/** The fields of a grant that a request may change. */
export interface GrantChanges {
  readonly name?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** Null: as long as the subscription. */
  readonly end_date?: Instant | null | undefined;
}

/**
 * Changes the name, the metadata or the end of a grant of a subscription. Nothing is given for a period that ends later
 * than the grant; credits that were granted stay.
 */
export const changeGrant =
  (id: string, grantId: CreditGrantId, asked: GrantChanges): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const grant = grantOf(current, grantId);
      const changes = changedFields<Required<GrantChanges>>(grant, asked);
      if (isEmpty(changes)) return [];
      const { end_date } = changes;
      if (end_date !== undefined) assertEndable(grant, end_date, now);
      const next = nextApplication(grant, current.timezone);
      const isOver = next !== null && end_date && (next.period_end ?? next.period_start) > end_date;
      const application = isOver ? next.application_id : null;
      return [{ type: 'GrantChanged', data: { grant_id: grant.id, changes, application } }];
    });

/** Ends a grant of a subscription, now or later. */
export const endGrant =
  (id: string, grantId: CreditGrantId, effective: Instant | null): SubscriptionDecision =>
  (state, now) => {
    const end_date = laterOf(effective ?? now, now);
    const before = state?.grants.find((grant) => grant.id === grantId)?.end_date ?? null;
    if (before !== null && before <= end_date) return [];
    return changeGrant(id, grantId, { end_date })(state, now);
  };

/** A grant that gives nothing any more does not begin again. */
function assertEndable(
  { id, next_index, end_date: before }: Grant,
  end_date: Instant | null,
  now: Instant,
): void {
  const isLonger = before !== null && (end_date === null || end_date > before);
  if (next_index === null && isLonger) {
    throw invalidOperation(`The credit grant ${id} gives nothing any more.`, { reason: 'ended' });
  }
  if (end_date !== null && end_date < now) throw invalidField('/end_date', 'must not be past');
}

function grantOf({ grants }: Subscription, id: CreditGrantId): Grant {
  const grant = grants.find((each) => each.id === id);
  if (!grant) throw notFound('credit grant', id);
  return grant;
}
