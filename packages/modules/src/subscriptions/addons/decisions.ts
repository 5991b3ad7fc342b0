import {
  earlierOf,
  type Instant,
  invalidField,
  invalidOperation,
  laterOf,
} from '@counterfoil/kernel';
import { assertOneKind } from '../commitments/requests.ts';
import { acting, assertRunning, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { applicationOf } from '../grants/grant.ts';
import { asCharged, assertWithin, settling } from '../lines/decisions.ts';
import { newLine } from '../lines/line.ts';
import { maximumLines } from '../schema.ts';
import { addLine, addLineOnce, type Proration, removeLine } from '../settlement/index.ts';
import { foldAll, type Subscription } from '../subscription.ts';
import { dueEvents, settled } from '../time/due.ts';
import { type Addon, assertSameResets } from './association.ts';
import { firstCredits } from './first-credits.ts';
import { begunAddon, type OrderedAddon } from './ordered-addon.ts';

/** Add-ons that a subscription has at once, at most. */
export const maximumAddons = 100;

/**
 * Attaches an add-on (E 11.5): its lines are charged as any that are added, and those of one that is sold once for its one
 * period.
 *
 * @param at the instant of a quote, for a start that is left open; null: now
 */
export const attachAddon =
  (
    id: string,
    ordered: OrderedAddon,
    { proration, at: quoted }: { readonly proration: Proration; readonly at: Instant | null },
  ): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertRunning(current);
      const { customer_id, timezone, opened } = current;
      const start = ordered.start_date ?? quoted ?? now;
      assertWithin(current, start, `${ordered.pointer}/start_date`);
      assertRoom(current, ordered);
      const lasting = current.addons.filter(({ addon_status }) => addon_status !== 'cancelled');
      const has = [...current.entitlements, ...lasting.flatMap((each) => each.entitlements)];
      assertSameResets(has, ordered.entitlements, ordered.pointer);
      assertOneKind(current.commitment, ordered.lines);
      const begun = begunAddon(current, ordered, { start, at: now });
      const { cadence } = ordered;
      const grants = begun.grants.map((grant) => ({
        ...grant,
        ...firstCredits(current, grant, { cadence, proration }),
      }));
      const add = cadence === 'onetime' ? addLineOnce : addLine;
      const lines = settling(current, (context) =>
        begun.lines.flatMap((line) => add(asCharged(current, newLine(line)), context, proration)),
      );
      const attached: SubscriptionEvent = {
        type: 'AddonAttached',
        data: {
          addon: begun.addon,
          change: { customer_id, begun: [...begun.lines], ended: [], noted: [] },
          grants: grants.map((grant) => ({
            ...grant,
            first: applicationOf(grant, 0, timezone),
          })),
        },
      };
      const cause = { reason: 'addon_added', period_index: opened?.index ?? null } as const;
      return withDue(current, now, [attached, ...settled(current, cause, now, lines, ordered.id)]);
    });

function assertRoom({ lines, addons }: Subscription, ordered: OrderedAddon): void {
  const limits = [
    ['lines', maximumLines, lines.length + ordered.lines.length],
    ['add-ons', maximumAddons, addons.length + 1],
  ] as const;
  for (const [what, limit, found] of limits) {
    if (found <= limit) continue;
    throw invalidOperation(`A subscription has at most ${limit} ${what}.`, {
      reason: 'limit_reached',
      limit,
    });
  }
}

/** The end of an add-on, as it is asked for. */
export interface AddonRemoval {
  readonly addon_association_id: string;
  /** Null: with the period that runs. */
  readonly effective_date: Instant | null;
  readonly proration: Proration;
  readonly reason: string | null;
}

/**
 * Ends an add-on within the period that runs (E 11.5), one that is still to begin before it does. Prorated, what was charged
 * for the time after it is credited, but of one that is sold once.
 */
export const removeAddon =
  (
    id: string,
    { addon_association_id, effective_date, proration, reason }: AddonRemoval,
  ): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertRunning(current);
      const addon = addonOf(current, addon_association_id);
      const end_date = endOf(current, addon, effective_date, now);
      const ending = current.lines.filter(
        (line) =>
          line.addon_association_id === addon.id &&
          (line.end_date === null || line.end_date > end_date),
      );
      const lines = settling(current, (context) =>
        ending.flatMap(
          (line) =>
            removeLine(asCharged(current, line), context, { at: end_date, proration }).lines,
        ),
      );
      const ended = ending.map((line) => ({
        id: line.id,
        end_date: laterOf(end_date, line.start_date),
        followed_by: null,
      }));
      const { customer_id, opened } = current;
      const removed: SubscriptionEvent = {
        type: 'AddonRemoved',
        data: {
          addon_association_id: addon.id,
          end_date,
          reason,
          change: { customer_id, begun: [], ended, noted: [] },
        },
      };
      const cause = { reason: 'addon_removed', period_index: opened?.index ?? null } as const;
      const key = `${addon.id} ${end_date}`;
      const settlement = settled(current, cause, earlierOf(end_date, now), lines, key);
      return withDue(current, now, [removed, ...settlement]);
    });

/** The add-on, unless the subscription has none of that id any more. */
function addonOf({ addons }: Subscription, id: string): Addon {
  const addon = addons.find((each) => each.id === id && each.addon_status !== 'cancelled');
  if (addon) return addon;
  throw invalidOperation(`The add-on ${id} has ended.`, { reason: 'ended' });
}

function endOf(
  { opened }: Subscription,
  addon: Addon,
  asked: Instant | null,
  now: Instant,
): Instant {
  if (asked !== null && opened !== null && (asked < opened.start || asked > opened.end)) {
    throw invalidField(
      '/effective_date',
      `must lie in the current period, ${opened.start} to ${opened.end}`,
    );
  }
  if (asked !== null && addon.addon_status === 'active' && asked < addon.start_date) {
    throw invalidField(
      '/effective_date',
      `must not be before the add-on begins, ${addon.start_date}`,
    );
  }
  const end = laterOf(asked ?? opened?.end ?? now, addon.start_date);
  if (addon.end_date !== null && end >= addon.end_date) {
    throw invalidOperation(`The add-on ${addon.id} ends at ${addon.end_date}.`, {
      reason: 'ended',
    });
  }
  return end;
}

/** Events with what they make due at once, such as the end of what ends now. */
function withDue(
  subscription: Subscription,
  now: Instant,
  events: readonly SubscriptionEvent[],
): readonly SubscriptionEvent[] {
  const after = foldAll(subscription, events, now);
  return [...events, ...dueEvents(after, now)];
}
