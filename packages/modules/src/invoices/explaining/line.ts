import { type Currency, textOf } from '@counterfoil/kernel';
import {
  chargeTermsOf,
  dividedCredits,
  lineItemView,
  type Settled,
} from '../../subscriptions/index.ts';
import { netOf, taxOf } from '../amounts.ts';
import type { InvoiceLine } from '../events.ts';
import { isOfUsage, restOf, useKeyOf } from '../lines/billed-lines.ts';
import { chargeOf } from '../lines/charge-of.ts';
import type { LineOrigin } from '../lines/parts.ts';
import { linesOfSettlement } from '../lines/settlement-lines.ts';
import type { ExplainedLine } from './schema.ts';
import { costView, sharedView, stretchOf, usageMembers } from './usage-of-line.ts';

/** The members of a line whose steps there are none of. */
const noSteps = {
  price: null,
  usage: null,
  cost: null,
  buckets_total: 1,
  proration: null,
  credit: null,
  commitment: null,
  windows: null,
  shared_commitment: null,
  late: null,
  unrounded_amount: null,
} as const;

type Steps = Pick<ExplainedLine, keyof typeof noSteps>;

/**
 * A line with every step to its amount.
 *
 * @param origin what led to it; null for a line that was given
 * @param isUsageKnown false where its events are dropped: then nothing is told of usage
 */
export function explainedLine(
  line: InvoiceLine,
  origin: LineOrigin | null,
  isUsageKnown = true,
): ExplainedLine {
  return {
    line_item_id: line.id,
    line_kind: line.kind,
    display_name: line.display_name,
    quantity: line.quantity,
    amount: line.amount,
    settlement: origin && settlementView(origin.settled),
    ...(origin ? stepsOf(line, origin, isUsageKnown) : noSteps),
    line_item_discount: line.line_discount,
    invoice_level_discount: line.invoice_discount,
    net_amount: textOf(netOf(line)),
    prepaid_credits_applied: line.credits,
    tax_behavior: line.tax_behavior ?? 'exclusive',
    tax_amount: taxOf(line),
  };
}

const settlementView = ({ settlement, state }: Settled): ExplainedLine['settlement'] => ({
  settlement_id: settlement.settlement_id,
  subscription_id: state.id,
  reason: settlement.reason,
  at: settlement.at,
  period_index: settlement.period_index,
});

function stepsOf(line: InvoiceLine, origin: LineOrigin, isUsageKnown: boolean): Steps {
  const { settled } = origin;
  const price = priceOf(line, settled);
  switch (line.kind) {
    case 'fixed':
      return { ...noSteps, price, ...chargeSteps(line, settled) };
    case 'credit':
      return { ...noSteps, price, credit: creditOf(line, origin) };
    case 'usage':
    case 'overage':
    case 'true_up':
    case 'late_usage':
      return {
        ...noSteps,
        price,
        ...(isUsageKnown && { ...usageSteps(line, origin), late: lateOf(line, origin) }),
      };
    default:
      return { ...noSteps, price };
  }
}

function priceOf(line: InvoiceLine, { lines, state }: Settled): Steps['price'] {
  const sold = lines.get(line.subscription_line_item_id ?? '');
  return sold ? lineItemView(state, state, sold).price : null;
}

function usageSteps(line: InvoiceLine, { rated }: LineOrigin): Partial<Steps> {
  const stretch = stretchOf(line, rated);
  if (stretch) return usageMembers(stretch, rated);
  return { shared_commitment: rated.commitment && sharedView(rated.commitment.rated) };
}

function chargeSteps(line: InvoiceLine, settled: Settled): Partial<Steps> {
  const charge = chargeOf(settled, line);
  if (charge === null) return {};
  const terms = chargeTermsOf(settled, charge);
  return {
    cost: costView(terms.cost, settled.settlement.currency as Currency),
    unrounded_amount: null,
    proration: {
      full_amount: terms.full_amount,
      span: { ...charge.span },
      whole: { ...charge.whole },
      billable_milliseconds: String(terms.billable),
      whole_milliseconds: String(terms.whole),
      cost_before: terms.cost_before?.unrounded_amount ?? null,
      amount: terms.amount,
    },
  };
}

/** The credit that a line is of: one of its own settlement, or of a later one while its invoice was a draft. */
function creditOf(line: InvoiceLine, { settled, credit: later }: LineOrigin): Steps['credit'] {
  const own =
    later ??
    dividedCredits(settled.settlement).find(
      ({ credit }) =>
        credit.line_item_id === line.subscription_line_item_id &&
        credit.span.start === line.period_start &&
        credit.span.end === line.period_end,
    );
  if (!own) return null;
  const { span, whole, charged, credited_before, amount, invoice_id } = own.credit;
  return {
    span: { ...span },
    whole: { ...whole },
    charged,
    credited_before,
    credit: amount,
    invoice_id: invoice_id ?? null,
  };
}

/** The whole of usage that is billed in parts, and the parts before this one: tiers and allowances are those of the whole. */
function lateOf(line: InvoiceLine, { settled, rated, billed }: LineOrigin): Steps['late'] {
  if (billed === null) return null;
  const { settlement, lines, state } = settled;
  const now = linesOfSettlement({ settlement, lines, subscription_id: state.id, rated }).filter(
    (each) => isOfUsage(each) && useKeyOf(each) === useKeyOf(line),
  );
  const whole = restOf(now, []);
  return {
    quantity_now: whole.quantity,
    amount_now: whole.amount,
    billed: billed.map(({ id, quantity, amount }) => ({ line_item_id: id, quantity, amount })),
    quantity: line.quantity,
    amount: line.amount,
  };
}
