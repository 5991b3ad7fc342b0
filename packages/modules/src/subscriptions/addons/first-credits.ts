import { decimal, divide, textOf, zero } from '@counterfoil/kernel';
import { applicationOf, type GrantData } from '../grants/grant.ts';
import { pausedSpans } from '../pauses/pause.ts';
import { billableLength, type Proration } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';
import type { AddonCadence } from './association.ts';

/** Digits after the point that a part of credits has. */
const partDigits = 8;

/**
 * The beginning of a grant of an add-on that is attached within a period (E 11.5). One in the rhythm of the subscription
 * gives the part of its credits that is left of the period without its pauses (D67), and the whole from the next one on, where that is prorated; any
 * other gives all of them at once, and is counted from there.
 */
export function firstCredits(
  subscription: Subscription,
  grant: GrantData,
  { cadence, proration }: { readonly cadence: AddonCadence; readonly proration: Proration },
): Pick<GrantData, 'start_date' | 'part'> {
  const { opened, cycle, timezone } = subscription;
  const { start_date, period, period_count, credits } = grant;
  const whole = { start_date, part: null };
  const isAlike = period === cycle.unit && period_count === 1 && cycle.count === 1;
  if (cadence === 'onetime' || proration === 'none' || !isAlike) return whole;
  if (opened === null || start_date <= opened.start || start_date >= opened.end) return whole;
  const { start, end } = opened;
  const pauses = pausedSpans(subscription);
  const length = (from: typeof start) =>
    decimal(String(billableLength({ start: from, end }, pauses)));
  const left = divide(decimal(credits).times(length(start_date)), length(start), partDigits);
  if (left.cmp(zero) === 0) return { start_date: end, part: null };
  const part = { anchor: end, credits: textOf(left) };
  const { period_end } = applicationOf({ ...grant, part }, 0, timezone);
  return period_end === end ? { start_date, part } : whole;
}
