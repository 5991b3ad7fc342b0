import type { InvoiceFigures, InvoiceLine } from '../events.ts';

/** A figure of an invoice that does not come out as it was recorded. */
export interface FigureDifference {
  /** Null for a figure of the whole invoice. */
  readonly line_id: string | null;
  /** The name of the line; null for the whole. */
  readonly display_name: string | null;
  /** The name of the figure; `line` for a line that one of them lacks. */
  readonly figure: string;
  /** As it comes out; null for none. */
  readonly expected: string | null;
  /** As it was recorded; null for none. */
  readonly found: string | null;
}

/** The differences of two sets of figures, line by line, and then those of the whole. */
export const differencesOf = (
  expected: InvoiceFigures,
  found: InvoiceFigures,
): readonly FigureDifference[] => [
  ...differencesOfLines(expected.lines, found.lines),
  ...differencesIn(null, wholeOf(expected), wholeOf(found)),
];

function differencesOfLines(
  expected: readonly InvoiceLine[],
  found: readonly InvoiceLine[],
): readonly FigureDifference[] {
  const recorded = new Map(found.map((line) => [line.id, line]));
  const missing = new Set(recorded.keys());
  const differing = expected.flatMap((line) => {
    missing.delete(line.id);
    const own = recorded.get(line.id);
    if (own) return differencesIn(line, figuresIn(line), figuresIn(own));
    return [lineOnly(line, { expected: line.amount, found: null })];
  });
  const extra = [...missing].flatMap((id) => {
    const line = recorded.get(id);
    return line ? [lineOnly(line, { expected: null, found: line.amount })] : [];
  });
  return [...differing, ...extra];
}

const lineOnly = (
  { id, display_name }: InvoiceLine,
  sides: Pick<FigureDifference, 'expected' | 'found'>,
): FigureDifference => ({ line_id: id, display_name, figure: 'line', ...sides });

type Figures = Readonly<Record<string, string | null>>;

function differencesIn(
  line: Pick<InvoiceLine, 'id' | 'display_name'> | null,
  expected: Figures,
  found: Figures,
): readonly FigureDifference[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  return names.flatMap((figure) => {
    const sides = { expected: expected[figure] ?? null, found: found[figure] ?? null };
    if (sides.expected === sides.found) return [];
    return {
      line_id: line?.id ?? null,
      display_name: line?.display_name ?? null,
      figure,
      ...sides,
    };
  });
}

/** The figures of a line by their names. */
const figuresIn = (line: InvoiceLine): Figures => ({
  kind: line.kind,
  price_id: line.price_id,
  meter_id: line.meter_id,
  period_start: line.period_start,
  period_end: line.period_end,
  quantity: line.quantity,
  free_quantity: line.free_quantity,
  amount: line.amount,
  utilized_commitment: line.commitment?.utilized ?? null,
  overage: line.commitment?.overage ?? null,
  true_up: line.commitment?.true_up ?? null,
  line_discount: line.line_discount,
  invoice_discount: line.invoice_discount,
  credits: line.credits,
  tax: line.tax,
  included_tax: line.included_tax ?? '0',
});

/** The figures of the whole by their names, those of each coupon and tax among them. */
const wholeOf = (figures: InvoiceFigures): Figures => ({
  ...Object.fromEntries(
    figures.coupons.map(({ id, discounted_amount }) => [`coupon ${id}`, discounted_amount]),
  ),
  ...Object.fromEntries(figures.taxes.map(({ id, tax_amount }) => [`tax ${id}`, tax_amount])),
  tax_exemption: figures.tax_exemption?.number ?? null,
  subtotal: figures.subtotal,
  total_discount: figures.total_discount,
  total_credits: figures.total_credits,
  total_tax: figures.total_tax,
  total: figures.total,
});
