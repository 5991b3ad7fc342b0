import {
  type Currency,
  type DecimalText,
  decimal,
  existing,
  money,
  moneyText,
  textOf,
} from '@counterfoil/kernel';
import { priceFieldsOf } from '../../offers/index.ts';
import { type Cost, cost, priceTermsOf } from '../../pricing/index.ts';
import { billedEvery, type LineData } from '../lines/line.ts';
import { pausedSpans } from '../pauses/pause.ts';
import { billableLength, prorated, type SettlementCharge } from '../settlement/index.ts';
import type { Settled } from './settled.ts';

/** The way in which a charge that does not depend on usage came to its amount: computed again from the price as it was sold. */
export interface ChargeTerms {
  readonly line: LineData;
  /** The cost of the quantity of the line for a whole period. */
  readonly cost: Cost;
  /** The cost before the quantity grew, where what was added is charged; else null. */
  readonly cost_before: Cost | null;
  /** Exact: `cost`, less `cost_before`. */
  readonly full_amount: DecimalText;
  /** Milliseconds that are charged for, without pauses, and of the whole that the full amount pays for. */
  readonly billable: bigint;
  readonly whole: bigint;
  /** Money: `full_amount × billable ÷ whole`, rounded once. */
  readonly amount: DecimalText;
}

/** Computes a charge of a settlement again (E 12.3), from the line as it was sold and the pauses that there were. */
export function chargeTermsOf(
  { settlement, state, lines }: Pick<Settled, 'settlement' | 'state' | 'lines'>,
  charge: SettlementCharge,
): ChargeTerms {
  const line = existing(lines.get(charge.line_item_id) ?? null, 'line');
  const currency = settlement.currency as Currency;
  const terms = priceTermsOf(priceFieldsOf(line.price));
  const whole = cost(terms, line.quantity, currency);
  const isAdded = settlement.reason === 'quantity_changed' && charge.quantity !== line.quantity;
  const before = isAdded
    ? cost(terms, textOf(decimal(line.quantity).minus(decimal(charge.quantity))), currency)
    : null;
  const full_amount =
    before === null
      ? whole.unrounded_amount
      : textOf(decimal(whole.unrounded_amount).minus(decimal(before.unrounded_amount)));
  const pauses = pausedSpans(state);
  return {
    line,
    cost: whole,
    cost_before: before,
    full_amount,
    billable: billableLength(charge.span, pauses),
    whole: billableLength(charge.whole, pauses),
    amount:
      billedEvery(line.price) === 'ONETIME'
        ? moneyText(money(decimal(full_amount), currency))
        : prorated(full_amount, charge.span, charge.whole, pauses, currency),
  };
}
