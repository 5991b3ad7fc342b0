import {
  type AppliedTaxId,
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  derivedId,
  digitsFault,
  zero,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { BilledTax } from '../invoices/index.ts';
import type { AskedLine } from './question.ts';

const linesMaximum = 10_000;
const taxesMaximum = 20;
/** Different taxes on one invoice. */
const kindsMaximum = 100;

/** A decimal as text, as amounts are everywhere: a number of JSON would have been rounded before it came. */
const amountText = z
  .string()
  .max(40)
  .regex(/^-?(0|[1-9]\d*)(\.\d+)?$/, 'must be a decimal number as text, such as "19.00"')
  .transform((text) => text as DecimalText);

const rateText = amountText.refine(
  (text) => decimal(text).cmp(zero) >= 0 && decimal(text).cmp(decimal('100')) <= 0,
  'must be a percentage from 0 to 100',
);

/** The answer of a provider: of every line that was asked for what taxes it has, and of no other. Unknown members are left aside. */
export const taxAnswerSchema = z.object({
  lines: z
    .array(
      z.object({
        id: z.string().max(100),
        taxes: z
          .array(
            z.object({
              name: z.string().min(1).max(255),
              code: z.string().min(1).max(64).optional(),
              rate: rateText,
              amount: amountText,
            }),
          )
          .max(taxesMaximum),
      }),
    )
    .max(linesMaximum),
});
type TaxAnswer = z.output<typeof taxAnswerSchema>;

/** An answer that says something else than the taxes of the lines that were asked for. The message is for the tenant. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

/** Reads an answer. Throws `WrongAnswer` for what is none. */
export function readAnswer(body: Uint8Array): TaxAnswer {
  const read = taxAnswerSchema.safeParse(jsonOf(body));
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const place = first?.path.map(String).join('/') ?? '';
  throw new WrongAnswer(`its answer is not as documented: /${place} ${first?.message ?? ''}`);
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WrongAnswer('its answer is no JSON');
  }
}

/**
 * The taxes of an invoice by an answer: one for each name, code and rate, with what each line has of it. Pure.
 * Throws `WrongAnswer` where lines are missing, twice or unknown, or an amount cannot be the tax of its line.
 */
export function taxesIn(
  { lines }: TaxAnswer,
  invoiceId: string,
  asked: readonly AskedLine[],
  currency: Currency,
): readonly BilledTax[] {
  const answered = new Map(lines.map((line) => [line.id, line.taxes]));
  if (answered.size !== lines.length) throw new WrongAnswer('its answer has a line twice');
  if (answered.size !== asked.length || asked.some(({ id }) => !answered.has(id))) {
    throw new WrongAnswer('its answer has other lines than were asked for');
  }
  const taxes = new Map<string, { tax: BilledTax; shares: NonNullable<BilledTax['shares']> }>();
  for (const line of asked) {
    const own = answered.get(line.id) ?? [];
    assertFits(line, own, currency);
    for (const { name, code = name.slice(0, 64), rate, amount } of own) {
      const key = JSON.stringify([name, code, rate]);
      const known = taxes.get(key) ?? { tax: taxOf(invoiceId, key, name, code, rate), shares: [] };
      taxes.set(key, known);
      const share = known.shares.find(({ line_id }) => line_id === line.id);
      if (share) throw new WrongAnswer(`line ${line.id} has one tax twice`);
      known.shares.push({ line_id: line.id, amount });
    }
  }
  if (taxes.size > kindsMaximum) {
    throw new WrongAnswer(`its answer has more than ${kindsMaximum} different taxes`);
  }
  return [...taxes.values()].map(({ tax, shares }) => ({
    ...tax,
    line_ids: shares.map(({ line_id }) => line_id),
    shares,
  }));
}

const taxOf = (
  invoiceId: string,
  key: string,
  name: string,
  code: string,
  percentage: DecimalText,
): BilledTax => ({
  id: derivedId('taxapp', `${invoiceId}\n${key}`) as AppliedTaxId,
  tax_rate_id: null,
  tax_association_id: null,
  code,
  name,
  percentage,
  fixed: null,
});

/** Amounts have the digits of the currency and the side of their line, and are together not more than it. */
function assertFits(
  { id, amount }: AskedLine,
  taxes: TaxAnswer['lines'][number]['taxes'],
  currency: Currency,
): void {
  const net = decimal(amount);
  let all: Decimal = zero;
  for (const tax of taxes) {
    const fault = digitsFault(tax.amount, currency);
    if (fault !== null) throw new WrongAnswer(`a tax of line ${id} ${fault}`);
    const own = decimal(tax.amount);
    if (own.times(net).cmp(zero) < 0) {
      throw new WrongAnswer(`a tax of line ${id} is on the other side than its amount`);
    }
    all = all.plus(own);
  }
  if (all.abs().cmp(net.abs()) > 0) {
    throw new WrongAnswer(`the taxes of line ${id} are more than its amount`);
  }
}
