import { type Currency, type Decimal, decimal, textOf, zero } from '@counterfoil/kernel';
import type { InvoiceResource } from '../invoices/index.ts';
import type { Locale } from './locale/locale.ts';
import type { DocumentModel, Fact, Row, Table, Total } from './model.ts';
import {
  currencyOf,
  customerFact,
  type DocumentSetting,
  issuerOf,
  proofOf,
  recipientOf,
  watermarkOf,
} from './parties.ts';

type Line = NonNullable<InvoiceResource['line_items']>[number];

const isZero = (amount: string): boolean => decimal(amount).cmp(zero) === 0;

const negative = (amount: string): string => textOf(zero.minus(decimal(amount)));

/** The document of an invoice, from its form on the wire. A draft and one that is not valid any more say so on every page. */
export function invoiceDocument(invoice: InvoiceResource, setting: DocumentSetting): DocumentModel {
  const { locale } = setting;
  const { texts } = locale;
  const issuedAt = invoice.finalized_at ?? invoice.created_at;
  const number = invoice.invoice_number;
  return {
    language: locale.language,
    fileName: number ?? invoice.id,
    heading: texts.invoice,
    title: `${texts.invoice} ${number ?? invoice.id}`,
    watermark: watermarkOf(invoice.invoice_status, locale),
    issuer: issuerOf(setting),
    recipientLabel: texts.billTo,
    recipient: recipientOf(invoice.customer, invoice.customer_id, locale),
    facts: factsOf(invoice, locale),
    table: tableOf(invoice, locale),
    totals: totalsOf(invoice, locale),
    notes: notesOf(invoice, setting),
    proof:
      invoice.invoice_status === 'FINALIZED' && number !== null
        ? proofOf(setting, {
            id: invoice.id,
            number,
            issued: issuedAt,
            currency: currencyOf(invoice),
            total: invoice.total,
          })
        : null,
    pageOf: texts.page,
    issuedAt,
  };
}

function factsOf(invoice: InvoiceResource, locale: Locale): readonly Fact[] {
  const { texts, date, days } = locale;
  const { finalized_at, due_date, paid_at, period_start, period_end } = invoice;
  return [
    { label: texts.number, value: invoice.invoice_number ?? texts.notYet },
    ...(finalized_at ? [{ label: texts.issued, value: date(finalized_at) }] : []),
    ...(due_date ? [{ label: texts.due, value: date(due_date) }] : []),
    ...(period_start && period_end
      ? [{ label: texts.period, value: days(period_start, period_end) }]
      : []),
    ...(paid_at ? [{ label: texts.paidOn, value: date(paid_at) }] : []),
    customerFact(invoice.customer, invoice.customer_id, locale),
    { label: texts.documentId, value: invoice.id },
  ];
}

function tableOf(invoice: InvoiceResource, locale: Locale): Table {
  const { texts } = locale;
  const currency = currencyOf(invoice);
  return {
    caption: texts.lines,
    columns: [
      { label: texts.description, isFigure: false, share: 42 },
      { label: texts.period, isFigure: false, share: 26 },
      { label: texts.quantity, isFigure: true, share: 14 },
      { label: texts.amount, isFigure: true, share: 18 },
    ],
    rows: (invoice.line_items ?? []).map((line) => rowOf(line, currency, locale)),
    whenEmpty: texts.noLines,
  };
}

function rowOf(line: Line, currency: Currency, { texts, money, quantity, days }: Locale): Row {
  const {
    adjusted_entitlement_quantity: free,
    line_item_discount,
    period_start,
    period_end,
  } = line;
  const period = period_start && period_end ? days(period_start, period_end) : '';
  return {
    cells: [line.display_name, period, quantity(line.quantity), money(line.amount, currency)],
    notes: [
      ...(free === null || isZero(free) ? [] : [texts.free(quantity(free))]),
      ...(isZero(line_item_discount)
        ? []
        : [`${texts.lineDiscount}: ${money(negative(line_item_discount), currency)}`]),
    ],
  };
}

/** Discounts and taxes by name, where there are not more of them than anybody reads. */
const mostNamed = 20;

/** Sums amounts that have one name, in the order in which the names come first. */
function summed<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  amountOf: (item: Item) => string,
): readonly (readonly [name: string, amount: string])[] {
  const sums = new Map<string, Decimal>();
  for (const item of items) {
    const name = nameOf(item);
    sums.set(name, (sums.get(name) ?? zero).plus(decimal(amountOf(item))));
  }
  return [...sums].map(([name, sum]) => [name, textOf(sum)] as const);
}

/** Named parts of a sum; the sum alone where the parts are none, too many, or not the whole of it. */
function partsOr(
  parts: readonly (readonly [name: string, amount: string])[],
  whole: readonly [name: string, amount: string],
): readonly (readonly [name: string, amount: string])[] {
  const sum = parts.reduce((left, [, amount]) => left.plus(decimal(amount)), zero);
  const isWhole = sum.cmp(decimal(whole[1])) === 0;
  return parts.length > 0 && parts.length <= mostNamed && isWhole ? parts : [whole];
}

type Tax = InvoiceResource['taxes'][number];

const less = (one: string, other: string): string => textOf(decimal(one).minus(decimal(other)));

/** The parts of the taxes of one kind, by name. The base is told where all of a tax is of that kind. */
const taxesBy = (
  { taxes, currency }: InvoiceResource,
  { texts, money, percentage }: Locale,
  partOf: (tax: Tax) => string,
): readonly (readonly [name: string, amount: string])[] =>
  taxes.map((tax) => {
    const { name, percentage_value: rate } = tax.tax_rate;
    const part = partOf(tax);
    const base = part === tax.tax_amount ? money(tax.taxable_amount, currency as Currency) : null;
    return [texts.taxOn(name, rate === undefined ? null : percentage(rate), base), part] as const;
  });

function totalsOf(invoice: InvoiceResource, locale: Locale): readonly Total[] {
  const { texts, money } = locale;
  const currency = currencyOf(invoice);
  const row = (label: string, amount: string, isMain = false): Total => ({
    label,
    value: money(amount, currency),
    isMain,
  });
  const unlessZero = (label: string, amount: string): Total[] =>
    isZero(amount) ? [] : [row(label, amount)];
  const discounts = summed(
    invoice.coupon_applications,
    ({ coupon_snapshot }) => coupon_snapshot.name,
    ({ discounted_amount }) => discounted_amount,
  );
  const lowered = partsOr(discounts, [texts.discounts, invoice.total_discount]);
  const { total_tax, total_included_tax } = invoice;
  const added = partsOr(
    taxesBy(invoice, locale, ({ tax_amount, included_amount }) =>
      less(tax_amount, included_amount),
    ),
    [texts.taxes, less(total_tax, total_included_tax)],
  );
  const included = partsOr(
    taxesBy(invoice, locale, ({ included_amount }) => included_amount),
    [texts.taxes, total_included_tax],
  );
  return [
    row(texts.subtotal, invoice.subtotal),
    ...lowered.flatMap(([name, amount]) => unlessZero(name, negative(amount))),
    ...unlessZero(texts.credits, negative(invoice.total_prepaid_credits_applied)),
    ...added.flatMap(([name, amount]) => unlessZero(name, amount)),
    row(texts.total, invoice.total, true),
    ...included.flatMap(([name, amount]) => unlessZero(texts.taxWithin(name), amount)),
    ...unlessZero(texts.adjustments, negative(invoice.adjustment_amount)),
    ...unlessZero(texts.paid, negative(invoice.amount_paid)),
    row(texts.remaining, invoice.amount_remaining, true),
  ];
}

function notesOf(
  { description, tax_exemption }: InvoiceResource,
  setting: DocumentSetting,
): readonly string[] {
  const { texts } = setting.locale;
  const exempt = tax_exemption && texts.taxExempt(tax_exemption.number, tax_exemption.reason);
  const footer = setting.tenant.metadata.document_footer;
  return [exempt, description, footer].filter((note) => note) as string[];
}
