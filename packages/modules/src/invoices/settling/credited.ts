import { type DecimalText, decimal, textOf, zero, zeroText } from '@counterfoil/kernel';
import type { InvoiceEventData } from '../events.ts';
import type { Invoice } from '../invoice.ts';

/** A part of a line that is credited: by a credit note, or because a settlement gives it back. */
export type NoteLine = InvoiceEventData<'InvoiceAdjusted'>['lines'][number];

/** All tax of a credited line: on top of its amount, and in it. */
export const noteTaxOf = ({ tax, included_tax = zeroText }: NoteLine): DecimalText =>
  sum([tax, included_tax]);

/** The sum of amounts. */
export const sum = (amounts: readonly DecimalText[]): DecimalText =>
  textOf(amounts.reduce((all, amount) => all.plus(decimal(amount)), zero));

/** One amount less another. */
export const difference = (one: DecimalText, other: DecimalText): DecimalText =>
  textOf(decimal(one).minus(decimal(other)));

/** The total of a note: the amounts of its lines, and the tax that comes on top of them. */
export const totalOf = ({ lines }: { readonly lines: readonly NoteLine[] }): DecimalText =>
  sum(lines.flatMap(({ amount, tax }) => [amount, tax]));

/** The money of credited lines: their total less what prepaid credits had paid. */
export const moneyOf = (lines: readonly NoteLine[]): DecimalText =>
  difference(totalOf({ lines }), sum(lines.map(({ credits }) => credits)));

/**
 * Everything that was credited of the lines of an invoice, by notes and by settlements, and what is being credited now. It is looked through
 * once, however many lines are asked for: an invoice can have many notes of many lines.
 */
export class CreditedLines {
  readonly #invoice: Invoice;
  readonly #credited = new Map<string, NoteLine[]>();

  constructor(invoice: Invoice) {
    this.#invoice = invoice;
    for (const { lines } of [...invoice.notes, ...invoice.given_back]) {
      for (const line of lines) this.add(line);
    }
  }

  get invoice(): Invoice {
    return this.#invoice;
  }

  of(lineId: string): readonly NoteLine[] {
    return this.#credited.get(lineId) ?? [];
  }

  add(line: NoteLine): void {
    const known = this.#credited.get(line.line_id);
    if (known) known.push(line);
    else this.#credited.set(line.line_id, [line]);
  }
}
