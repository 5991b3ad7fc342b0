import { type AskingContext, ReadStreams } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  invalidField,
  invalidOperation,
  notFound,
  Problem,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import {
  type ComputedAgain,
  chargeOf,
  computedAgain,
  figuresOf,
  type Invoice,
  type InvoiceFigures,
  type InvoiceLine,
  invoiceNet,
  recordedInvoice,
  taxesOfOtherLines,
  type UsageAt,
  usageAt,
} from '../invoices/index.ts';
import { type PriceRecord, repricedFigures } from '../offers/index.ts';
import { chargeTermsOf, type SoldPrice, withPrices } from '../subscriptions/index.ts';
import type { GivenPrice } from './schema.ts';

/** An invoice as it was billed, and under other prices. */
export interface RatedInvoice {
  /** With its payments and credit notes by now. */
  readonly invoice: Invoice;
  readonly before: InvoiceFigures;
  readonly after: InvoiceFigures;
  readonly lines: readonly RatedInvoiceLine[];
}

/** A line as it was billed, and under other prices. */
export interface RatedInvoiceLine {
  readonly line: InvoiceLine;
  readonly amount_before: DecimalText;
  /** After discounts and before tax: what is after less what was before. */
  readonly net: DecimalText;
  readonly tax: DecimalText;
}

/**
 * Computes a final invoice of a subscription again under prices as they should have been: with the usage that it billed, its discounts and
 * its tax rates. Lines for usage that came late, and what was given back, stay as they are. Throws 404, and 400 for an invoice or a
 * price that this cannot be done for.
 */
export async function ratedAgain(
  context: AskingContext,
  id: string,
  prices: readonly GivenPrice[],
  at: UsageAt = usageAt,
): Promise<RatedInvoice> {
  const recorded = await recordedInvoice(context, id);
  if (recorded === null) throw notFound('invoice', id);
  const { invoice, current } = recorded;
  if (current.invoice_status !== 'FINALIZED' || invoice.cause.kind !== 'settlements') {
    throw invalidOperation(
      `Invoice ${id} is ${current.invoice_status}: only a final one of a subscription is rated again.`,
      { reason: 'not_final', invoice_status: current.invoice_status },
    );
  }
  const read = new ReadStreams();
  const again = await computedAgain(context, recorded, { usageAt: at, read });
  const reprice = repricing(pricesIn(again), prices);
  const other = await computedAgain(context, recorded, {
    ...{ usageAt: at, read },
    within: (then) => withPrices(then, reprice),
  });
  const lines = linesUnder(invoice, other, new Set(prices.map(({ price_id }) => price_id)));
  const bill = { ...other.bill, lines };
  const taxes = taxesOfOtherLines(again.bill, bill);
  const after = figuresOf({ ...bill, taxes, credits: [] });
  return { invoice: current, before: invoice, after, lines: differing(invoice, after) };
}

/** The prices that lines of an invoice were sold at, by their id. */
function pricesIn({ origins }: ComputedAgain): ReadonlyMap<string, SoldPrice> {
  const prices = new Map<string, SoldPrice>();
  for (const { settled } of origins.values()) {
    for (const { price } of settled.lines.values()) prices.set(price.id, price);
  }
  return prices;
}

/** Makes what gives the prices as they should have been. Throws 400 for a price that no line has, or figures that do not fit it. */
function repricing(
  sold: ReadonlyMap<string, SoldPrice>,
  prices: readonly GivenPrice[],
): (price: SoldPrice) => SoldPrice {
  const figures = new Map(
    prices.map(({ price_id, amount, tiers }, index) => {
      const price = sold.get(price_id);
      if (!price) throw invalidField(`/prices/${index}/price_id`, 'is the price of no line');
      if (price.price_unit) {
        throw invalidField(
          `/prices/${index}/price_id`,
          'is in a unit of its own: it stays as it is',
        );
      }
      if ((amount === undefined) === (tiers === undefined)) {
        throw invalidField(`/prices/${index}`, 'needs either amount or tiers');
      }
      const asked = { amount, tiers, metadata: undefined };
      return [price_id, figuresAt(`/prices/${index}`, price, asked)] as const;
    }),
  );
  return (price) => ({ ...price, ...figures.get(price.id) });
}

/** The figures of a price as they are asked for. Throws 400 with the pointer of what does not fit it. */
function figuresAt(pointer: string, price: SoldPrice, asked: object) {
  try {
    return repricedFigures(price as unknown as PriceRecord, asked as never);
  } catch (error) {
    const [fault] = error instanceof Problem ? (error.errors ?? []) : [];
    if (!fault) throw error;
    throw invalidField(`${pointer}${fault.pointer}`, fault.message);
  }
}

/** The kinds of lines whose amounts follow from usage. */
const ofUsage = new Set<InvoiceLine['kind']>(['usage', 'overage', 'true_up']);

/** The lines under other prices: those of the invoice, and those of usage that it would have besides. */
function linesUnder(
  { lines }: Invoice,
  { figures, origins }: ComputedAgain,
  prices: ReadonlySet<string>,
): InvoiceLine[] {
  const rated = new Map(figures.lines.map((line) => [line.id, line]));
  const known = new Set(lines.map(({ id }) => id));
  const own = lines.map((line): InvoiceLine => {
    if (ofUsage.has(line.kind)) {
      const { amount = zeroText, quantity = zeroText } = rated.get(line.id) ?? {};
      return { ...line, amount, quantity };
    }
    const origin = origins.get(line.id);
    const charge = origin && chargeOf(origin.settled, line);
    if (!charge || !prices.has(line.price_id ?? '')) return line;
    return { ...line, amount: chargeTermsOf(origin.settled, charge).amount };
  });
  return [...own, ...figures.lines.filter(({ id, kind }) => !known.has(id) && ofUsage.has(kind))];
}

function differing(before: InvoiceFigures, after: InvoiceFigures): readonly RatedInvoiceLine[] {
  const billed = new Map(before.lines.map((line) => [line.id, line]));
  return after.lines.flatMap((line) => {
    const own = billed.get(line.id);
    const net = invoiceNet(line).minus(own ? invoiceNet(own) : zero);
    const tax = decimal(line.tax).minus(decimal(own?.tax ?? zeroText));
    const amount_before = own?.amount ?? zeroText;
    if (net.eq(zero) && tax.eq(zero) && amount_before === line.amount) return [];
    return [{ line, amount_before, net: textOf(net), tax: textOf(tax) }];
  });
}
