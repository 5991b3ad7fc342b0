import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  type Instant,
  minorUnits,
  shareOf,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { SettlementContext } from './boundaries.ts';
import type { ChargedLine, ChargedSpan, InvoicedCharge } from './charged-line.ts';
import { prorated } from './proration.ts';
import type { SettlementCredit } from './settlement.ts';
import { from } from './spans.ts';

/** Money that was paid for a stretch of time. */
export interface Paid {
  /** Net of discounts. Until there are invoices, everything that was charged counts as paid (D64). */
  readonly amount: DecimalText;
  /** Part of it that was credited for time at its end. */
  readonly credited: DecimalText;
  /** Part of it that was given back for another reason, as by a credit note. */
  readonly returned: DecimalText;
}

/**
 * The credit for the unused part of what was paid (E 12.2 B): less what was credited of that part before, and never more than
 * is left of the payment.
 *
 * @param unused money: the share that the unused time has of the amount
 */
export function creditOf({ amount, credited, returned }: Paid, unused: DecimalText): DecimalText {
  const open = decimal(unused).minus(decimal(credited));
  const left = decimal(amount).minus(decimal(credited)).minus(decimal(returned));
  const credit = smaller(open, left);
  return credit.cmp(zero) > 0 ? textOf(credit) : zeroText;
}

/**
 * The credits of a line for everything that was charged in advance for time after an instant (E 12.2 B, D64): of each
 * charge the share of that time, less what was given back of it before; of one whose invoice is final net of its discounts, with
 * its tax. So no credit exceeds its charge, and what was used is
 * what is left of it, to the last unit.
 */
export const creditLines = (
  line: ChargedLine,
  at: Instant,
  context: SettlementContext,
): SettlementCredit[] =>
  line.charged.flatMap((charged) => {
    const { line_item_id, span: whole, credited, invoiced } = charged;
    const paid = invoiced?.net ?? charged.amount;
    const unused = unusedOf({ ...charged, amount: paid }, at, context);
    const returned = invoiced?.returned ?? zeroText;
    const amount = creditOf({ amount: paid, credited, returned }, unused);
    if (amount === zeroText) return [];
    const span = from(whole, at) ?? whole;
    const credited_before = credited;
    return {
      kind: 'credit',
      line_item_id,
      span,
      whole,
      charged: paid,
      credited_before,
      amount,
      ...(invoiced && {
        invoice_id: invoiced.invoice_id,
        tax: taxOn(invoiced, credited, amount, context.currency),
      }),
    };
  });

/** The tax of a part of a charge that is credited: together the parts have the tax of all of it, to the last unit. */
function taxOn(
  { net, tax }: InvoicedCharge,
  credited: DecimalText,
  amount: DecimalText,
  currency: Currency,
): DecimalText {
  const digits = decimal(`1e${minorUnits(currency)}`);
  const units = (value: Decimal): bigint => BigInt(value.times(digits).toFixed(0));
  const upTo = (value: Decimal) =>
    decimal(shareOf(decimal(tax), units(value), units(decimal(net)), currency));
  const before = decimal(credited);
  return textOf(upTo(before.plus(decimal(amount))).minus(upTo(before)));
}

/** The money of a charge that is for time after an instant; of a price that is charged once all of it before its start. */
function unusedOf(
  { span, amount }: ChargedSpan,
  at: Instant,
  { pauses, currency }: SettlementContext,
): DecimalText {
  if (at < span.start) return amount;
  const rest = from(span, at);
  return rest === null ? zeroText : prorated(amount, rest, span, pauses, currency);
}

/** Tells whether something is charged for time after an instant. */
export const isCharged = ({ charged }: ChargedLine, at: Instant): boolean =>
  charged.some(({ span }) => span.end > at);
