import {
  derivedId,
  type Instant,
  invalidField,
  invalidOperation,
  laterOf,
  type Metadata,
  notFound,
  type SubscriptionLineId,
} from '@counterfoil/kernel';
import { chainOf } from '../../offers/index.ts';
import { type OrderedCoupon, orderedCoupons } from '../coupons/association.ts';
import { assertFewCoupons } from '../coupons/decisions.ts';
import { lineDates } from '../creation/ordered-line.ts';
import { assertRoom } from '../creation/stretch-lines.ts';
import { acting, assertRunning, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import type { LinesChanged } from '../lines/changed.ts';
import { asCharged, settling } from '../lines/decisions.ts';
import { type Line, type LineData, newLine, ofNoAddon } from '../lines/line.ts';
import { maximumPhases } from '../schema.ts';
import { addLine, removeLine, type SettlementReason } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';
import { settled } from '../time/due.ts';
import type { Phase } from './phase.ts';
import { assertAfterTrial, type OrderedPhase } from './prepare.ts';

/** A phase that is to follow, and what is known of the plan that it stands in for. */
export interface PhaseOrder {
  readonly ordered: OrderedPhase;
  /** The coupons that count in it alone. */
  readonly coupons: readonly OrderedCoupon[];
  /** The prices of the plan, to tell its lines from those beside it. */
  readonly prices_of_plan: ReadonlySet<string>;
}

/**
 * Lets a phase follow on all others (E 10.8), or on what a subscription without any has of its plan: those lines end with its
 * beginning. What is charged for time after that is settled as lines that end and that are added are.
 */
export const addPhase =
  (id: string, { ordered, coupons, prices_of_plan }: PhaseOrder): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertRunning(current);
      const end_date = endWith(current, ordered.phase, now);
      assertRoom([...current.lines, ...ordered.lines]);
      const phase = { ...ordered.phase, end_date };
      const { start_date: at, id: phaseId } = phase;
      const before = current.phases.at(-1) ?? null;
      const ended = current.lines
        .filter((line) => isDisplaced(line, before, prices_of_plan))
        .filter((line) => line.end_date === null || line.end_date > at);
      const host = { ...current, end_date };
      const begun = ordered.lines.map(({ from, end_date: end, ...line }, index): LineData => {
        const last = end ?? end_date;
        const line_id = derivedId('subs_line', `${phaseId}\n${index}`);
        const dates = lineDates(host, current.timezone, {
          price: line.price,
          from,
          end_date: last,
        });
        return { ...line, id: line_id, ...ofNoAddon, ...dates };
      });
      const change = changeOf(host, begun, ended, at);
      const redeemed = orderedCoupons({ ...host, lines: begun, phases: [phase] }, coupons);
      assertFewCoupons(current, redeemed.length, now);
      const data = { phase, change: change.lines, end_date, coupons: [...redeemed] };
      return [
        { type: 'PhaseAdded', data },
        ...settledBy(current, 'phase_added', now, change, phaseId),
      ];
    });

/** The end of a subscription with a phase: that of the phase, which may lengthen it, or the one that it has. */
function endWith(
  current: Subscription,
  { start_date, end_date }: OrderedPhase['phase'],
  now: Instant,
): Instant | null {
  const { phases, end_date: last, opened, trial } = current;
  if (start_date <= now) throw invalidField('/start_date', 'must lie ahead');
  if (phases.length >= maximumPhases) {
    throw invalidOperation(`A subscription has at most ${maximumPhases} phases.`, {
      reason: 'limit_reached',
      limit: maximumPhases,
    });
  }
  assertAfterTrial([{ start_date }], trial?.end ?? null, () => '/start_date');
  const before = phases.at(-1);
  if (before && start_date <= before.start_date) {
    throw invalidField(
      '/start_date',
      `must be after the start of the last phase, ${before.start_date}`,
    );
  }
  if (last === null) return end_date;
  if (start_date > last) throw invalidField('/start_date', `must not be after the end, ${last}`);
  if (start_date < last) {
    if (end_date === null || end_date === last) return last;
    throw invalidField('/end_date', `must be the end of the subscription, ${last}`);
  }
  if (opened === null || opened.end < last) return end_date;
  throw invalidOperation(
    `The last period of subscription ${current.id} runs: nothing follows on it.`,
    {
      reason: 'ended',
    },
  );
}

/** Tells whether a phase stands in for a line: one of the phase before it, or of the plan where there is none. */
function isDisplaced(
  { subscription_phase_id, addon_association_id, price }: Line,
  before: Phase | null,
  pricesOfPlan: ReadonlySet<string>,
): boolean {
  if (addon_association_id !== null) return false;
  if (before !== null) return subscription_phase_id === before.id;
  return pricesOfPlan.has(price.id) || pricesOfPlan.has(chainOf(price));
}

/** Gives a phase other notes. */
export const changePhase =
  (id: string, phase_id: string, metadata: Metadata): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const phase = phaseOf(current, phase_id);
      return [{ type: 'PhaseChanged', data: { phase_id: phase.id, metadata } }];
    });

/** Gives up a phase that has not begun: what was before it goes on until the next one, or the end. */
export const removePhase =
  (id: string, phase_id: string): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertRunning(current);
      const phase = phaseOf(current, phase_id);
      if (phase.has_begun) {
        throw invalidOperation(`The phase ${phase_id} began at ${phase.start_date}.`, {
          reason: 'ended',
        });
      }
      const { start_date: at, end_date } = phase;
      const before = current.phases[current.phases.indexOf(phase) - 1]?.id ?? null;
      const begun = current.lines
        .filter((line) => line.subscription_phase_id === before && isContinued(line, at))
        .map(({ charged: _, ...line }): LineData => {
          const line_id: SubscriptionLineId = derivedId('subs_line', `${phase.id}\n${line.id}`);
          const { price } = line;
          const dates = lineDates(current, current.timezone, { price, from: at, end_date });
          return { ...line, id: line_id, ...dates };
        });
      assertRoom([...current.lines, ...begun]);
      const ended = current.lines.filter((line) => line.subscription_phase_id === phase.id);
      const change = changeOf(current, begun, ended, at);
      return [
        { type: 'PhaseRemoved', data: { phase_id: phase.id, change: change.lines } },
        ...current.coupons
          .filter(({ phase_id }) => phase_id === phase.id)
          .map(({ id: coupon_association_id, start_date }): SubscriptionEvent => {
            const data = { coupon_association_id, end_date: start_date };
            return { type: 'CouponDetached', data };
          }),
        ...settledBy(current, 'phase_removed', now, change, phase.id),
      ];
    });

/** Tells whether a line ended only because another phase was to begin; what was charged once is not charged again. */
const isContinued = ({ addon_association_id, end_date, price }: Line, at: Instant): boolean =>
  addon_association_id === null && end_date === at && price.billing_period !== 'ONETIME';

function phaseOf({ phases }: Subscription, phaseId: string): Phase {
  const phase = phases.find((each) => each.id === phaseId);
  if (!phase) throw notFound('phase', phaseId);
  return phase;
}

/** Lines that begin and end with a phase, and what is settled with that. */
function changeOf(
  current: Subscription,
  begun: readonly LineData[],
  ending: readonly Line[],
  at: Instant,
) {
  const { customer_id, proration_behavior: proration } = current;
  const ends = ending.map((line) => ({ line, end_date: laterOf(at, line.start_date) }));
  const lines: LinesChanged = {
    customer_id,
    begun: [...begun],
    ended: ends.map(({ line, end_date }) => ({ id: line.id, end_date, followed_by: null })),
    noted: [],
  };
  const settlement = settling(current, (context) => [
    ...ends.flatMap(
      ({ line, end_date }) =>
        removeLine(asCharged(current, line), context, { at: end_date, proration }).lines,
    ),
    ...begun.flatMap((line) => addLine(asCharged(current, newLine(line)), context, proration)),
  ]);
  return { lines, settlement };
}

const settledBy = (
  current: Subscription,
  reason: SettlementReason,
  now: Instant,
  { settlement }: ReturnType<typeof changeOf>,
  key: string,
): readonly SubscriptionEvent[] => {
  const cause = { reason, period_index: current.opened?.index ?? null };
  return settled(current, cause, now, settlement, key);
};
