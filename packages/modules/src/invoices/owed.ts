import {
  type Decimal,
  type DecimalText,
  decimal,
  type Instant,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { includedIn, netOf } from './amounts.ts';
import { amountsOf, type Invoice, type InvoiceState } from './invoice.ts';

/**
 * The way in which an invoice counts for what prepaid wallets are going to pay: it is final and not paid, or a draft of what a subscription
 * has settled; null where it does not. Credits do not pay for credits.
 */
export function owingOf(state: InvoiceState): 'final' | 'draft' | null {
  if (state === null || state.cause.kind === 'purchase') return null;
  if (state.invoice_status === 'FINALIZED') {
    return amountsOf(state).amount_remaining === '0' ? null : 'final';
  }
  return state.invoice_status === 'DRAFT' && state.subscription_id !== null ? 'draft' : null;
}

/** Money that an invoice is owed, by what it is for. */
export interface OwedMoney {
  readonly usage: DecimalText;
  /** Everything else: fixed charges, and all tax. */
  readonly rest: DecimalText;
}

const nothing: OwedMoney = { usage: textOf(zero), rest: textOf(zero) };

/**
 * Everything that remains to be paid of an invoice that is final, or of a draft whose period is over by now (E 18.8). Of usage that is its lines less
 * discounts, prepaid credits and adjustments; what was paid has paid those lines first, and none of them more than it comes to.
 */
export function owedOn(invoice: Invoice, now: Instant): OwedMoney {
  const owing = owingOf(invoice);
  if (owing === null) return nothing;
  const { period_end } = invoice;
  if (owing === 'draft' && (period_end === null || period_end > now)) return nothing;
  const { amount_remaining, amount_paid } = amountsOf(invoice);
  const remaining = decimal(amount_remaining);
  const unpaid = notBelowZero(usageOf(invoice).minus(decimal(amount_paid)));
  const usage = smaller(unpaid, remaining);
  return { usage: textOf(usage), rest: textOf(remaining.minus(usage)) };
}

function usageOf({ lines, notes }: Invoice): Decimal {
  const ofUsage = lines.filter(({ price_type }) => price_type === 'USAGE');
  const ids = new Set<string>(ofUsage.map(({ id }) => id));
  const charged = ofUsage.reduce(
    (sum, line) => sum.plus(netOf(line)).minus(includedIn(line)).minus(decimal(line.credits)),
    zero,
  );
  return notes.reduce(
    (sum, note) =>
      note.kind === 'REFUND'
        ? sum
        : note.lines.reduce(
            (left, line) =>
              ids.has(line.line_id)
                ? left.minus(decimal(line.amount)).plus(includedIn(line))
                : left,
            sum,
          ),
    charged,
  );
}

const notBelowZero = (amount: Decimal): Decimal => (amount.cmp(zero) > 0 ? amount : zero);
