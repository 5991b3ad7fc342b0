import type { AskingContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  type Instant,
  invalidField,
  type Span,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { aggregateEntitlements, type MeteredEntitlement } from '../../entitlements/index.ts';
import { feature } from '../../features/index.ts';
import { displayTotal } from '../../pricing/index.ts';
import type { Allowance, RatedCommitment, RatedLine } from '../../rating/index.ts';
import { usageTables } from '../../usage/index.ts';
import { existingSubscription } from '../decisions.ts';
import { entitlementsAt } from '../entitlements/grants.ts';
import { isInherited, usersOf } from '../families/family.ts';
import { earlierEnd, type Line } from '../lines/line.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { currentPeriod } from '../time/steps.ts';
import { lineItemView } from '../view.ts';
import { allowanceBy, mostGenerous } from './allowances.ts';
import { heldIn, ratedCommitment, usedCommitment } from './held.ts';
import { chargesByCommitment } from './overage.ts';
import { type Charging, type RatedUsage, ratedUsage } from './rated-line.ts';
import type { UsageCharges } from './schema.ts';

type Charge = UsageCharges['charges'][number];

/** A question about the usage of a subscription. */
export interface UsageQuestion {
  readonly subscription_id: string;
  readonly start_time?: Instant | null | undefined;
  readonly end_time?: Instant | null | undefined;
  readonly lifetime_usage?: boolean | null | undefined;
}

/**
 * The charges for the usage of a subscription, one for each line of usage that lies in the span: gross, and net of what its
 * entitlements make free (specification §4.13, E 6, D70). Lines come by the name of their meter.
 */
export async function usageCharges(
  context: AskingContext,
  question: UsageQuestion,
): Promise<UsageCharges> {
  const { subscription_id: id } = question;
  const asked = existingSubscription(await context.recalled.load(subscription, id), id);
  const state = await chargedFor(context, asked);
  const span = spanOf(state, question, context.now);
  const charging: Charging = {
    state,
    // One who inherits sees what was used by itself; the one who is charged, what all have used.
    users: isInherited(asked)
      ? state.family.heirs.filter(({ subscription_id }) => subscription_id === asked.id)
      : usersOf(state),
    position: await context.facts.shown(usageTables),
    allowances: await allowancesOf(context, state),
  };
  // The commitments are of all who use it together.
  const held = isInherited(asked) ? [] : heldIn(state, span);
  const lines: Charge[] = [];
  for (const line of state.lines.filter(({ price }) => price.type === 'USAGE')) {
    const part = partOf(line, state, span);
    if (part === null) continue;
    const commitment = isInherited(asked)
      ? null
      : await usedCommitment(context, charging, line, part, held);
    const rated = await ratedUsage(context, charging, line, part, commitment);
    lines.push(chargeOf(state, line, rated));
  }
  lines.sort(
    (left, right) =>
      inOrder(left.meter_display_name, right.meter_display_name) ||
      inOrder(left.subscription_line_item_id, right.subscription_line_item_id),
  );
  const covered = lines.map((charge) => ({
    line_id: charge.subscription_line_item_id,
    gross: charge.exact_amount as DecimalText,
    net: charge.net_amount as DecimalText,
  }));
  const committed = await ratedCommitment(context, charging, span, covered, held);
  const charges = committed === null ? lines : chargesByCommitment(lines, committed);
  const gross = sumOf(charges.map(({ exact_amount }) => exact_amount));
  return {
    amount: +gross,
    exact_amount: gross,
    net_amount: sumOf(charges.map(({ net_amount }) => net_amount)),
    currency: state.currency,
    display_amount: displayTotal(gross, state.currency),
    start_time: span.start,
    end_time: span.end,
    ...commitmentShown(state, charges, committed?.gross ?? null),
    charges: [...charges],
    position: charging.position,
  };
}

/** The members of the contract that show a commitment of all usage; those that are zero are left out. */
function commitmentShown(
  { commitment }: Subscription,
  charges: readonly Charge[],
  rated: RatedCommitment | null,
) {
  const has_overage = charges.some(({ is_overage, commitment_info: own }) =>
    own ? own.computed_overage_amount !== '0' : is_overage,
  );
  if (commitment === null) return { has_overage };
  const overage = rated && has_overage ? +rated.overage : 0;
  const utilized = rated === null ? 0 : +rated.utilized;
  return {
    has_overage,
    commitment_amount: +commitment.amount,
    overage_factor: +commitment.overage_factor,
    ...(utilized !== 0 && { commitment_utilized: utilized }),
    ...(overage !== 0 && { overage_amount: overage }),
  };
}

/** The subscription whose lines the usage of one is charged under: that of its parent, where it is inherited. */
export async function chargedFor(
  context: AskingContext,
  asked: Subscription,
): Promise<Subscription> {
  const parentId = isInherited(asked) ? asked.family.parent?.subscription_id : undefined;
  if (parentId === undefined) return asked;
  return existingSubscription(await context.recalled.load(subscription, parentId), parentId);
}

const inOrder = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

const sumOf = (amounts: readonly string[]): DecimalText =>
  textOf(amounts.reduce((sum, amount) => sum.plus(decimal(amount)), zero));

function spanOf(state: Subscription, question: UsageQuestion, now: Instant): Span {
  if (question.lifetime_usage) {
    return { start: state.start_date, end: now > state.start_date ? now : state.start_date };
  }
  const period = currentPeriod(state);
  const span = {
    start: question.start_time ?? period.start,
    end: question.end_time ?? period.end,
  };
  if (span.start > span.end) throw invalidField('/end_time', 'must not be before start_time');
  return span;
}

/** The part of a span for which a line is charged; null for none. */
export function partOf(line: Line, { end_date }: Subscription, span: Span): Span | null {
  const last = earlierEnd(line.end_date, end_date);
  const start = line.start_date > span.start ? line.start_date : span.start;
  const end = last !== null && last < span.end ? last : span.end;
  return start < end ? { start, end } : null;
}

/** The charge of a line for its part of a span. */
function chargeOf(state: Subscription, line: Line, { counted, gross, net }: RatedUsage): Charge {
  const free = decimal(gross.quantity).minus(decimal(net.quantity));
  const { currency } = state;
  return {
    subscription_line_item_id: line.id,
    meter_id: counted.id,
    meter_display_name: line.meter_display_name ?? counted.name,
    filter_values: Object.fromEntries(counted.filters.map(({ key, values }) => [key, [...values]])),
    quantity: +gross.quantity,
    exact_quantity: gross.quantity,
    free_quantity: textOf(free.cmp(zero) < 0 ? zero : free),
    amount: +gross.amount,
    exact_amount: gross.amount,
    net_amount: net.amount,
    currency,
    display_amount: displayTotal(gross.amount, currency),
    is_overage: false,
    commitment_info: commitmentInfo(line, gross),
    price: lineItemView(state, state, line).price,
  };
}

/** The commitment of a line as it was rated; absent where it has none. */
function commitmentInfo(
  { commitment }: Line,
  { explanation }: RatedLine,
): Charge['commitment_info'] {
  const { charge } = explanation;
  if (commitment === null || charge.kind === 'plain') return undefined;
  const { utilized, overage, true_up } = charge.kind === 'windowed' ? charge : charge.commitment;
  const { committed } = commitment;
  return {
    ...(committed?.kind === 'amount' && { amount: committed.amount }),
    ...(committed?.kind === 'quantity' && { quantity: committed.quantity }),
    overage_factor: commitment.overage_factor,
    true_up_enabled: commitment.true_up,
    is_windowed: commitment.windowed,
    computed_commitment_utilized_amount: utilized,
    computed_overage_amount: overage,
    computed_true_up_amount: true_up,
  };
}

/** The usage that the entitlements of a subscription make free at an instant, by meter. */
export async function allowancesOf(
  context: Pick<AskingContext, 'recalled' | 'now'>,
  state: Subscription,
  at: Instant = context.now,
): Promise<ReadonlyMap<string, Allowance>> {
  const granted = aggregateEntitlements(entitlementsAt(state, at), at).filter(
    (each): each is MeteredEntitlement => each.feature_type === 'metered',
  );
  const meters = new Map<string, string>();
  for (const id of new Set(granted.map(({ feature_id }) => feature_id))) {
    const found = await context.recalled.load(feature, id);
    if (found?.meter_id && found.status !== 'deleted') meters.set(id, found.meter_id);
  }
  const byMeter = new Map<string, Allowance>();
  const meterOf = ({ feature_id }: MeteredEntitlement) => meters.get(feature_id);
  for (const meterId of new Set(granted.map(meterOf))) {
    const ofMeter = granted.filter((each) => meterOf(each) === meterId).map(allowanceBy);
    const allowance = mostGenerous(ofMeter, state.cycle);
    if (meterId !== undefined && allowance !== null) byMeter.set(meterId, allowance);
  }
  return byMeter;
}
