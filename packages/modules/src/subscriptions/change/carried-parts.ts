import {
  type AddonAssociationId,
  derivedId,
  type Instant,
  type SubscriptionId,
} from '@counterfoil/kernel';
import type { Addon } from '../addons/association.ts';
import type { OrderedAddon } from '../addons/ordered-addon.ts';
import { fitsRhythm } from '../creation/offered-prices.ts';
import type { OrderedLine } from '../creation/ordered-line.ts';
import type { CreatedData } from '../events.ts';
import {
  creditsAt,
  type Grant,
  type GrantData,
  grantCopyId,
  nextApplication,
} from '../grants/grant.ts';
import type { Line } from '../lines/line.ts';
import type { Subscription } from '../subscription.ts';

/** The subscription that follows, as far as what is taken along depends on it. */
interface Following {
  readonly id: SubscriptionId;
  readonly rhythm: Parameters<typeof fitsRhythm>[1];
}

/** The id that an add-on has in the subscription that follows. */
export const carriedAddonId = (to: SubscriptionId, id: AddonAssociationId): AddonAssociationId =>
  derivedId('addon_assoc', `${to}\n${id}`);

/** The add-ons that a subscription still has at an instant, or will have. */
export const lastingAddons = ({ addons }: Subscription, at: Instant): readonly Addon[] =>
  addons.filter(
    ({ addon_status, end_date }) =>
      addon_status !== 'cancelled' && (end_date === null || end_date > at),
  );

/**
 * An add-on as the subscription that follows has it (E 13 B): under the terms that it was sold under, until the end that it has. What was charged
 * once is not charged again: a price that is, and of an add-on that is sold once everything that was charged in advance. Null where one of
 * its prices does not fit the rhythm to come.
 */
export function carriedAddon(
  current: Subscription,
  addon: Addon,
  to: Following,
  at: Instant,
): OrderedAddon | null {
  const lines = current.lines.filter(
    (line) => isLeft(line, at) && !isPaid(line, at) && line.addon_association_id === addon.id,
  );
  if (
    !lines.every(({ price }) => price.billing_period === 'ONETIME' || fitsRhythm(price, to.rhythm))
  ) {
    return null;
  }
  return {
    id: carriedAddonId(to.id, addon.id),
    addon_id: addon.addon_id,
    addon_name: addon.addon_name,
    cadence: addon.cadence,
    start_date: addon.start_date > at ? addon.start_date : null,
    end_date: addon.end_date,
    metadata: addon.metadata,
    entitlements: addon.entitlements,
    lines: lines.map((line) => reordered(current, line, at)),
    // Those go on in their own rhythm, with those of the subscription itself.
    grants: [],
    pointer: '',
  };
}

/** Tells whether a line is still charged after an instant: not one that has ended, or that another took the place of before it began. */
export const isLeft = ({ start_date, end_date }: Line, at: Instant): boolean =>
  end_date === null || (end_date > at && end_date > start_date);

/** The instant from which a line is charged that begins later; null: with the change, as what waited for the end of a trial. */
export const laterStart = (
  { cycle }: Subscription,
  { start_date }: Line,
  at: Instant,
): Instant | null => (start_date > at && start_date !== cycle.start ? start_date : null);

/** Tells whether everything of a line is paid for. */
const isPaid = ({ price, is_sold_once, start_date, charged }: Line, at: Instant): boolean =>
  (price.billing_period === 'ONETIME' && start_date <= at) || (is_sold_once && charged.length > 0);

/** A line as the next subscription orders it. */
export const reordered = (current: Subscription, line: Line, at: Instant): OrderedLine => ({
  entity_type: line.entity_type,
  entity_id: line.entity_id,
  entity_name: line.entity_name,
  price: line.price,
  meter_display_name: line.meter_display_name,
  display_name: line.display_name,
  quantity: line.quantity,
  from: laterStart(current, line, at),
  end_date: line.end_date,
  // A phase ends with the plan.
  subscription_phase_id: null,
  commitment: line.commitment,
  metadata: line.metadata,
});

/**
 * The grants of credits of a subscription itself and of the add-ons that are taken along: each goes on with what it would
 * have given next, so that nothing is given twice, and nothing is left out.
 */
export const continuedGrants = (
  current: Subscription,
  to: { readonly id: SubscriptionId; readonly addons: readonly { readonly id: string }[] },
  at: Instant,
): GrantData[] =>
  current.grants.flatMap((grant) => {
    const { addon_association_id: addonId } = grant;
    const addon_association_id =
      addonId === null ? null : carriedAddonId(to.id, addonId as AddonAssociationId);
    const isKept =
      addonId === null
        ? grant.source_id === grant.id
        : to.addons.some(({ id }) => id === addon_association_id);
    const next = isKept ? continued(current, grant, to.id, at) : null;
    return next === null ? [] : { ...next, addon_association_id };
  });

function continued(
  { timezone, subscription_status }: Subscription,
  { next_index, ...grant }: Grant,
  to: SubscriptionId,
  at: Instant,
): GrantData | null {
  const next = nextApplication({ ...grant, next_index }, timezone);
  if (next === null || next_index === null) return null;
  const id = grantCopyId(to, grant.id);
  const source_id = grant.source_id === grant.id ? id : grant.source_id;
  // A change ends a trial, and what waited for that.
  if (subscription_status === 'trialing') return { ...grant, id, source_id, start_date: at };
  const start_date = next.period_start;
  const anchor = grant.part?.anchor ?? grant.start_date;
  const part = grant.period === null ? null : { anchor, credits: creditsAt(grant, next_index) };
  return { ...grant, id, source_id, start_date, part };
}

/** Tells whether a grant is of the plan that follows: neither of the subscription itself nor of an add-on. */
const isOfPlan = ({ id, source_id, addon_association_id }: GrantData): boolean =>
  source_id !== id && addon_association_id === null;

/**
 * The subscription that follows on a change that was scheduled, with the add-ons and grants that are left by now: what has
 * ended in between does not come back, and what was given is not given again.
 */
export function withPartsOf(current: Subscription, to: CreatedData, at: Instant): CreatedData {
  const lasting = new Set(lastingAddons(current, at).map(({ id }) => carriedAddonId(to.id, id)));
  const addons = to.addons.filter(({ id }) => lasting.has(id));
  const isOfThose = ({
    addon_association_id: id,
  }: {
    readonly addon_association_id: string | null;
  }) => id === null || addons.some((addon) => addon.id === id);
  return {
    ...to,
    addons,
    lines: to.lines.filter(isOfThose),
    grants: [...to.grants.filter(isOfPlan), ...continuedGrants(current, { id: to.id, addons }, at)],
  };
}
