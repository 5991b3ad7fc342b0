import { type Currency, decimal, existing, invariant } from '@counterfoil/kernel';
import { type Cost, type ExactCost, quoteView, roundedAmount } from '../../pricing/index.ts';
import type {
  CommitmentSplit,
  QuantityStep,
  RatedCommitment,
  UsageCharge,
} from '../../rating/index.ts';
import type { RatedSettlement, RatedStretch } from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';
import { type ExplainedLine, type ExplainedUsage, shownBuckets } from './schema.ts';

/** The members of an explained line that tell of usage. */
export type UsageMembers = Pick<
  ExplainedLine,
  | 'usage'
  | 'cost'
  | 'buckets_total'
  | 'commitment'
  | 'windows'
  | 'shared_commitment'
  | 'unrounded_amount'
>;

/** The stretch of rated usage that a line is for; null for one of the rest of a commitment. */
export const stretchOf = (
  {
    subscription_line_item_id,
    period_start,
  }: Pick<InvoiceLine, 'subscription_line_item_id' | 'period_start'>,
  { stretches }: RatedSettlement,
): RatedStretch | null =>
  stretches.find(
    ({ line, span }) => line.id === subscription_line_item_id && span.start === period_start,
  ) ?? null;

/** Every step from the events that a meter counted to what a stretch of usage comes to. */
export function usageMembers(stretch: RatedStretch, rated: RatedSettlement): UsageMembers {
  const { explanation } = stretch.net;
  invariant(explanation.kind === 'usage', 'usage is rated as usage');
  const { quantity, charge, total, currency } = explanation;
  return {
    usage: usageView(stretch, quantity),
    ...costMembers(charge, currency),
    commitment: charge.kind === 'committed' ? splitView(charge.commitment) : null,
    windows: charge.kind === 'windowed' ? windowsView(charge) : null,
    shared_commitment: sharedOf(stretch, rated),
    unrounded_amount: total.unrounded_amount,
  };
}

function usageView(
  { counted, stretches }: RatedStretch,
  { metered_by, measured, taken, below_zero, billable, allowance }: QuantityStep,
): ExplainedUsage {
  return {
    meter_id: metered_by.meter_id,
    event_name: counted.event_name,
    filters: counted.filters.map(({ key, values }) => ({ key, values: [...values] })),
    aggregation: metered_by.aggregation,
    events: metered_by.events,
    stretches: stretches.slice(0, shownBuckets).map(({ customerIds, span }) => ({
      ...span,
      customer_ids: [...customerIds],
    })),
    measured,
    taken,
    below_zero,
    billable,
    allowance: allowance && {
      limit: allowance.limit,
      resets: allowance.resets,
      windows: allowance.windows.slice(0, shownBuckets).map((window) => ({ ...window })),
      windows_total: allowance.windows.length,
    },
  };
}

function costMembers(
  charge: UsageCharge,
  currency: Currency,
): Pick<UsageMembers, 'cost' | 'buckets_total'> {
  if (charge.kind === 'windowed') return { cost: null, buckets_total: charge.windows.length };
  return { cost: costView(charge.cost, currency), buckets_total: charge.cost.charges.length };
}

/** A cost with its first buckets: there may be thousands of them. */
export function costView(cost: ExactCost, currency: Currency): ExplainedLine['cost'] {
  const whole: Cost = { ...cost, ...roundedAmount(decimal(cost.unrounded_amount), currency) };
  const shown = quoteView(whole);
  if (shown.charges.length <= shownBuckets) return shown;
  return {
    ...shown,
    charges: shown.charges.slice(0, shownBuckets),
    explanation: [
      ...shown.charges.slice(0, shownBuckets).flatMap((each) => each.explanation),
      ...shown.explanation.slice(-2),
    ],
  };
}

const splitView = (split: CommitmentSplit) => ({ ...split });

const windowsView = (
  charge: Extract<UsageCharge, { kind: 'windowed' }>,
): ExplainedLine['windows'] => ({
  utilized: charge.utilized,
  overage: charge.overage,
  true_up: charge.true_up,
  uncommitted: charge.uncommitted,
  windows: charge.windows.slice(0, shownBuckets).map(({ start, cost, amount, commitment }) => ({
    start,
    cost: cost.unrounded_amount,
    amount,
    commitment: commitment && splitView(commitment),
  })),
  windows_total: charge.windows.length,
  empty: charge.empty.map(({ windows, each, amount }) => ({ windows, each, amount })),
});

/** The share that a stretch has of the commitment of all usage together; null where there is none. */
function sharedOf(
  stretch: RatedStretch,
  rated: RatedSettlement,
): ExplainedLine['shared_commitment'] {
  if (rated.commitment === null) return null;
  const place = rated.stretches.indexOf(stretch);
  const share = existing(rated.commitment.rated.lines[place] ?? null, 'share of the line');
  return {
    ...sharedView(rated.commitment.rated),
    line_amount: share.amount,
    line_utilized: share.utilized,
    line_overage_base: share.overage_base,
    line_overage: share.overage,
  };
}

/** A commitment of all usage together, as the line for its rest shows it. */
export const sharedView = ({
  split,
  term_overage,
}: RatedCommitment): NonNullable<ExplainedLine['shared_commitment']> => {
  const { amount: _amount, ...figures } = split;
  return {
    ...figures,
    line_amount: null,
    line_utilized: null,
    line_overage_base: null,
    line_overage: null,
    overage_before: term_overage.before.amount,
    overage_through: term_overage.through.amount,
  };
};
