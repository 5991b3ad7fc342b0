import {
  type DecimalText,
  decimal,
  divide,
  type Span,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import {
  dividedCredits,
  type LineData,
  type RatedSettlement,
  type RatedStretch,
  type Settled,
  type SettlementLine,
} from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';
import type { UnnamedLine } from './line-id.ts';

/** A settlement with its usage rated, for the lines of its invoice. */
export interface BilledSettlement extends Pick<Settled, 'settlement' | 'lines'> {
  readonly subscription_id: string;
  readonly rated: RatedSettlement;
}

/** The lines of a subscription, and its id. */
type Placed = Pick<BilledSettlement, 'lines' | 'subscription_id'>;

type Charge = Extract<SettlementLine, { kind: 'charge' }>;
type Credit = Extract<SettlementLine, { kind: 'credit' }>;

/**
 * The lines of an invoice for a settlement: what was used, then what is charged, then what is given back of that. More is never given
 * back here than is charged: the rest goes to the customer's wallet (D33).
 */
export function linesOfSettlement(settled: BilledSettlement): readonly UnnamedLine[] {
  const { settlement } = settled;
  const charges = settlement.lines.filter((line): line is Charge => line.kind === 'charge');
  return [
    ...usageLines(settled),
    ...charges.map((charge) => chargeLine(settled, charge)),
    ...creditLines(settled),
  ];
}

function chargeLine(settled: BilledSettlement, charge: Charge): UnnamedLine {
  const line = lineOf(settled, charge.line_item_id);
  return {
    ...commonOf(settled, line, charge.span),
    kind: 'fixed',
    price_type: 'FIXED',
    quantity: charge.quantity,
    amount: charge.amount,
    metadata: { description: `${nameOf(line)} (Fixed Charge)` },
  };
}

const creditLines = (settled: BilledSettlement): readonly UnnamedLine[] =>
  dividedCredits(settled.settlement).flatMap(({ credit, within }) =>
    within === zeroText ? [] : creditLine(settled, credit, within),
  );

/** A line for money that is given back. */
export function creditLine(settled: Placed, credit: Credit, money: DecimalText): UnnamedLine {
  const line = lineOf(settled, credit.line_item_id);
  return {
    ...commonOf(settled, line, credit.span),
    kind: 'credit',
    price_type: 'FIXED',
    quantity: '1' as DecimalText,
    amount: textOf(decimal(money).neg()),
    metadata: { description: `${nameOf(line)} (Unused Time)` },
  };
}

/** Usage; where all of it together is committed to, what is within, what is above, and the rest that was not used (E 14.2). */
function usageLines(settled: BilledSettlement): readonly UnnamedLine[] {
  const { stretches, commitment } = settled.rated;
  if (commitment === null) {
    return stretches.map((stretch) => usageLine(settled, stretch, stretch.net));
  }
  const { lines, split, true_up } = commitment.rated;
  const isDearer = decimal(split.overage_factor).gt(decimal('1'));
  return [
    ...stretches.flatMap((stretch, index) => {
      const share = lines[index];
      if (!share || !isDearer || share.overage_base === zeroText) {
        return [usageLine(settled, stretch, stretch.net)];
      }
      const within = partOf(stretch.net, share.utilized);
      const above = textOf(decimal(stretch.net.quantity).minus(decimal(within)));
      const inside = usageLine(settled, stretch, { quantity: within, amount: share.utilized });
      return [
        ...(share.utilized === zeroText ? [] : [inside]),
        overageLine(settled, stretch, {
          quantity: above,
          amount: share.overage,
          factor: split.overage_factor,
        }),
      ];
    }),
    ...(true_up === zeroText ? [] : [trueUpLine(settled, commitment, true_up)]),
  ];
}

interface Billed {
  readonly quantity: DecimalText;
  readonly amount: DecimalText;
}

function usageLine(settled: BilledSettlement, stretch: RatedStretch, billed: Billed): UnnamedLine {
  const { line, span, free, counted } = stretch;
  return {
    ...commonOf(settled, line, span),
    kind: 'usage',
    price_type: 'USAGE',
    meter_id: counted.id,
    meter_display_name: line.meter_display_name ?? counted.name,
    quantity: billed.quantity,
    free_quantity: free,
    amount: billed.amount,
    commitment: commitmentOf(stretch),
    rules: stretch.net.explanation.rules,
    metadata: { description: `${nameOf(line)} (Usage Charge)` },
  };
}

const overageLine = (
  settled: BilledSettlement,
  stretch: RatedStretch,
  { factor, ...billed }: Billed & { readonly factor: DecimalText },
): UnnamedLine => ({
  ...usageLine(settled, stretch, billed),
  kind: 'overage',
  free_quantity: null,
  commitment: null,
  metadata: {
    description: `${nameOf(stretch.line)} (Overage Charge)`,
    is_overage: 'true',
    overage_factor: factor,
  },
});

/**
 * The rest of a commitment is a shortfall of usage, so credits for usage may pay it. It is under no price: tax is in it where it is in all prices
 * of the usage that is committed to.
 */
const trueUpLine = (
  settled: BilledSettlement,
  { held, rated }: NonNullable<RatedSettlement['commitment']>,
  amount: DecimalText,
): UnnamedLine => ({
  ...ofNoLine(settled, held.span),
  ...(isAllInclusive(settled) && { tax_behavior: 'inclusive' }),
  kind: 'true_up',
  price_type: 'USAGE',
  display_name: 'Commitment true-up',
  quantity: '1' as DecimalText,
  amount,
  metadata: {
    description: 'Commitment true-up',
    is_commitment_trueup: 'true',
    commitment_amount: held.committed,
    commitment_utilized: rated.utilized,
  },
});

const isAllInclusive = ({ rated: { stretches } }: BilledSettlement): boolean =>
  stretches.length > 0 && stretches.every(({ line }) => line.price.tax_behavior === 'inclusive');

/** The quantity that an amount is for, as much of the whole as its cost is; a quotient that does not end has 15 digits (D53). */
const partOf = ({ quantity, amount }: Billed, part: DecimalText): DecimalText =>
  decimal(amount).eq(zero)
    ? zeroText
    : textOf(divide(decimal(quantity).times(decimal(part)), decimal(amount), quantityPlaces));

const quantityPlaces = 15;

/** The commitment of a line, as it was rated; null where it has none. */
function commitmentOf({ line, net }: RatedStretch): InvoiceLine['commitment'] {
  const { charge } = net.explanation;
  if (line.commitment === null || charge.kind === 'plain') return null;
  const { utilized, overage, true_up } = charge.kind === 'windowed' ? charge : charge.commitment;
  const { committed, overage_factor, true_up: true_up_enabled, windowed } = line.commitment;
  return {
    amount: committed?.kind === 'amount' ? committed.amount : null,
    quantity: committed?.kind === 'quantity' ? committed.quantity : null,
    overage_factor,
    true_up_enabled,
    is_windowed: windowed,
    utilized,
    overage,
    true_up,
  };
}

/** The members of every line under a line of the subscription. */
function commonOf(settled: Placed, line: LineData | null, span: Span) {
  const common = ofNoLine(settled, span);
  if (line === null) return common;
  const { price, entity_type, entity_id, entity_name, display_name } = line;
  return {
    ...common,
    subscription_line_item_id: line.id as string,
    entity_type: entity_type as string,
    entity_id,
    plan_display_name: entity_name,
    price_id: price.id as string,
    price_unit: price.price_unit?.code ?? null,
    price_unit_id: price.price_unit?.id ?? null,
    display_name,
    ...behaviorOf(price),
  };
}

/** The place of the tax of a price, as lines have it. */
const behaviorOf = ({ tax_behavior }: LineData['price']) =>
  tax_behavior === 'inclusive' ? { tax_behavior } : {};

const ofNoLine = ({ subscription_id }: Placed, { start, end }: Span) => ({
  subscription_id,
  subscription_line_item_id: null,
  entity_type: null,
  entity_id: null,
  plan_display_name: null,
  price_id: null,
  price_unit: null,
  price_unit_id: null,
  price_unit_amount: null,
  meter_id: null,
  meter_display_name: null,
  display_name: 'Subscription',
  free_quantity: null,
  period_start: start,
  period_end: end,
  commitment: null,
});

/** The line of the subscription that a settlement is about; after a change of plan it can be one of the subscription before. */
const lineOf = ({ lines }: Placed, id: string): LineData | null => lines.get(id) ?? null;

const nameOf = (line: LineData | null): string => line?.display_name ?? 'Subscription';
