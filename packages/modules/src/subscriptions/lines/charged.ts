import {
  type DecimalText,
  decimal,
  invariant,
  type Span,
  textOf,
  zeroText,
} from '@counterfoil/kernel';
import type { ChargedSpan, Settlement, SettlementLine } from '../settlement/index.ts';
import type { Line } from './line.ts';

/**
 * The lines after a settlement: charged for what it charges, credited for what it credits. Spans that are over by then
 * are forgotten, because nothing can be credited of them any more.
 */
const afterSettlement = (lines: readonly Line[], settlement: Settlement): readonly Line[] =>
  settlement.lines
    .filter(isOwn(settlement))
    .reduce(withSettled, lines)
    .map((line) => ({
      ...line,
      charged: line.charged.filter(({ span }) => span.end > settlement.at),
    }));

/** After a change of plan the credits are of lines of the subscription before. */
const isOwn =
  ({ reason }: Settlement) =>
  ({ kind }: SettlementLine): boolean =>
    kind !== 'credit' || reason !== 'plan_changed';

function withSettled(lines: readonly Line[], settled: SettlementLine): readonly Line[] {
  switch (settled.kind) {
    case 'usage':
    case 'commitment':
      return lines;
    case 'charge': {
      if (settled.amount === zeroText) return lines;
      const { line_item_id, span, amount } = settled;
      const charged: ChargedSpan = { line_item_id, span, amount, credited: zeroText };
      return lines.map((line) =>
        line.id === line_item_id ? { ...line, charged: [...line.charged, charged] } : line,
      );
    }
    case 'credit': {
      const isOf = ({ line_item_id, span }: ChargedSpan) =>
        line_item_id === settled.line_item_id && isSame(span, settled.whole);
      invariant(
        lines.some(({ charged }) => charged.some(isOf)),
        `${settled.line_item_id}: what is credited was never charged`,
      );
      // After a change of its quantity a charge stands with the line that follows on the one that was charged.
      return lines.map((line) => ({
        ...line,
        charged: line.charged.map((each) =>
          isOf(each) ? { ...each, credited: plus(each.credited, settled.amount) } : each,
        ),
      }));
    }
    default:
      return settled satisfies never;
  }
}

const plus = (left: string, right: string) => textOf(decimal(left).plus(decimal(right)));

const isSame = (left: Span, right: Span): boolean =>
  left.start === right.start && left.end === right.end;

/** A charge as it came to stand on its invoice. */
export interface ChargeInvoiced {
  readonly line_item_id: string;
  /** The time that it was for when it was charged; a pause may have moved it since. */
  readonly span: Span;
  readonly amount: string;
  readonly net: DecimalText;
  readonly tax: DecimalText;
}

interface ChargesInvoiced {
  readonly invoice_id: string;
  readonly charges: readonly ChargeInvoiced[];
}

/** The lines after an invoice of theirs is final: each charge that still runs knows what it came to. */
const afterInvoice = (
  lines: readonly Line[],
  { invoice_id, charges }: ChargesInvoiced,
): readonly Line[] =>
  charges.reduce((all, { net, tax, ...charge }) => {
    const [found] = openCharges(all, charge);
    if (!found) return all;
    const invoiced = { invoice_id, net, tax };
    return all.map((line) => ({
      ...line,
      charged: line.charged.map((each) => (each === found ? { ...each, invoiced } : each)),
    }));
  }, lines);

/** The charges that can be the one that was invoiced, the likeliest first: those of its line and amount that stand on no invoice. */
function openCharges(
  lines: readonly Line[],
  { line_item_id, span, amount }: Omit<ChargeInvoiced, 'net' | 'tax'>,
): readonly ChargedSpan[] {
  const open = lines
    .flatMap(({ charged }) => charged)
    .filter((each) => each.line_item_id === line_item_id && each.amount === amount && isOpen(each));
  const isIt = (each: ChargedSpan): boolean => isSame(each.span, span);
  return [...open.filter(isIt), ...open.filter((each) => !isIt(each))];
}

/** Tells whether a charge stands on no invoice, or on one that is void: all of it went back. */
const isOpen = ({ invoiced }: ChargedSpan): boolean =>
  invoiced === undefined ||
  (invoiced.returned !== undefined && decimal(invoiced.returned).gte(decimal(invoiced.net)));

/** The charges of an invoice that still run, and of which something can be given back. */
export const runningCharges = (
  lines: readonly Line[],
  charges: readonly ChargeInvoiced[],
): readonly ChargeInvoiced[] => charges.filter((charge) => openCharges(lines, charge).length > 0);

/** A part of a charge that a credit note has given back, before tax. */
export interface ChargeReturned {
  readonly line_item_id: string;
  readonly amount: DecimalText;
}

interface ChargesReturned {
  readonly invoice_id: string;
  readonly charges: readonly ChargeReturned[];
}

/** The lines after a credit note on an invoice of theirs. */
const afterReturn = (
  lines: readonly Line[],
  { invoice_id, charges }: ChargesReturned,
): readonly Line[] =>
  charges.reduce((all, { line_item_id, amount }) => {
    const found = noted(all, invoice_id, line_item_id);
    if (!found?.invoiced) return all;
    const returned = plus(found.invoiced.returned ?? zeroText, amount);
    const invoiced = { ...found.invoiced, returned };
    return all.map((line) => ({
      ...line,
      charged: line.charged.map((each) => (each === found ? { ...each, invoiced } : each)),
    }));
  }, lines);

const noted = (lines: readonly Line[], invoiceId: string, lineId: string) =>
  lines
    .flatMap(({ charged }) => charged)
    .find(
      ({ line_item_id, invoiced }) => line_item_id === lineId && invoiced?.invoice_id === invoiceId,
    );

/** The parts that a credit note has given back of charges that still run. */
export const runningReturns = (
  lines: readonly Line[],
  { invoice_id, charges }: ChargesReturned,
): readonly ChargeReturned[] =>
  charges.filter(({ line_item_id }) => noted(lines, invoice_id, line_item_id) !== undefined);

/** An event that says something of charges. */
type ChargesEvent =
  | { readonly type: 'SettlementRecorded'; readonly data: Settlement }
  | { readonly type: 'ChargesInvoiced'; readonly data: ChargesInvoiced }
  | { readonly type: 'ChargesReturned'; readonly data: ChargesReturned };

/** The lines after something was charged or credited, or after an invoice or a credit note has said what became of charges. */
export function afterCharges(lines: readonly Line[], event: ChargesEvent): readonly Line[] {
  switch (event.type) {
    case 'SettlementRecorded':
      return afterSettlement(lines, event.data);
    case 'ChargesInvoiced':
      return afterInvoice(lines, event.data);
    case 'ChargesReturned':
      return afterReturn(lines, event.data);
    default:
      return event satisfies never;
  }
}
