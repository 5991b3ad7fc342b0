import type { AskingContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  existing,
  type Instant,
  type Span,
} from '@counterfoil/kernel';
import { type MeterRecord, meter } from '../../meters/index.ts';
import { priceFieldsOf } from '../../offers/index.ts';
import { priceTermsOf } from '../../pricing/index.ts';
import {
  type Allowance,
  type AllowanceRhythm,
  type LineCommitment,
  type RatedLine,
  type RulesVersion,
  rate,
} from '../../rating/index.ts';
import { type UsageStretch, usageInStretches } from '../../usage/index.ts';
import type { User } from '../families/family.ts';
import type { LineData } from '../lines/line.ts';
import { unbilledPauses } from '../pauses/pause.ts';
import type { Subscription } from '../subscription.ts';
import { currentPeriod } from '../time/steps.ts';
import type { BilledUsage } from './bills.ts';
import { type Measured, plainUsage, readOnce, usageUnder } from './measure.ts';
import { stretchesOf } from './stretches.ts';

/** The subscription whose usage is rated. */
export interface Charging {
  readonly state: Subscription;
  /** Those whose usage is rated together. */
  readonly users: readonly User[];
  readonly position: string;
  /** By meter. */
  readonly allowances: ReadonlyMap<string, Allowance>;
  /** The billing period that what is rated lies in; absent: the one that runs, or what is rated itself. */
  readonly billing?: Span;
  /** The usage that was billed before; absent: what settlements have billed by now. */
  readonly billed?: readonly BilledUsage[];
  /** True where the period is over, so that what is left of a commitment is charged. */
  readonly isClosing?: boolean;
  /** Tells usage in another way than by its tables. */
  readonly usageIn?: typeof usageInStretches;
  /** The version of the rules that rate; absent: those of today. */
  readonly rules?: RulesVersion;
}

/** A line of usage as it is rated: gross, and without what is free. */
export interface RatedUsage {
  readonly counted: MeterRecord;
  /** The stretches of its time in which usage counts, and whose. */
  readonly stretches: readonly UsageStretch[];
  readonly gross: RatedLine;
  readonly net: RatedLine;
}

/** The commitments of a line, each with what earlier periods used of it. */
export interface UsedCommitments {
  readonly gross: LineCommitment;
  readonly net: LineCommitment;
}

/** Rates a line of usage for a span. */
export async function ratedUsage(
  context: AskingContext,
  charging: Charging,
  { price }: Pick<LineData, 'price'>,
  span: Span,
  commitments: UsedCommitments | null = null,
): Promise<RatedUsage> {
  const { state, users, position, allowances, usageIn = usageInStretches } = charging;
  const pauses = unbilledPauses(state);
  const counted = existing(await context.recalled.load(meter, price.meter_id ?? ''), 'meter');
  const measured: Measured = {
    meter: counted,
    stretchesIn: (asked) => stretchesOf(users, pauses, asked),
    zone: state.timezone,
    position,
    usageIn: readOnce(usageIn),
  };
  const request = {
    kind: 'usage' as const,
    currency: price.currency as Currency,
    terms: priceTermsOf(priceFieldsOf(price)),
    period: span,
  };
  const usage = await plainUsage(context, measured, span);
  const commitment = commitments?.gross ?? null;
  const stretches = measured.stretchesIn(span);
  const gross = rate({ ...request, usage, allowance: null, commitment }, charging.rules);
  const allowance = allowances.get(counted.id) ?? null;
  // What is committed to for each window is paid for, free or not.
  if (allowance === null || commitment?.kind === 'windowed') {
    return { counted, stretches, gross, net: gross };
  }
  const rhythm = rhythmOf(state, span, allowance, charging.billing);
  const rest = await usageUnder(context, measured, span, allowance, rhythm);
  const net = rate(
    { ...request, allowance, usage: rest, commitment: commitments?.net ?? null },
    charging.rules,
  );
  return { counted, stretches, gross, net };
}

/**
 * The rhythm in which an allowance starts over. One that goes with the billing period is counted in its units where
 * the span is not within the period that runs.
 */
function rhythmOf(
  state: Subscription,
  part: Span,
  { resets }: Allowance,
  period: Span = currentPeriod(state),
): AllowanceRhythm {
  const { cycle, timezone: zone, trial, start_date } = state;
  const isWithin = period.start <= part.start && part.end <= period.end;
  // One of the same length goes with the billing period: a pause makes that longer.
  const isSame = cycle.count === 1 && resets === cycle.unit;
  const other = isSame ? null : resets;
  const own = other ?? (isWithin || cycle.count > 1 ? null : cycle.unit);
  const billing = isWithin ? { start: period.start, end: period.end } : part;
  // Nothing is used up before the end of a trial.
  const start: Instant = trial?.end ?? start_date;
  return { resets: own, billing, anchor: cycle.anchor, zone, start };
}

/** The exact cost of usage, before it is rounded. */
export const exactCostOf = ({ explanation }: RatedLine): DecimalText =>
  explanation.total.unrounded_amount;
