import { decimalPlaces, nonNegativeDecimalSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { overrideFiguresShape } from '../offers/index.ts';

const amountSchema = nonNegativeDecimalSchema(decimalPlaces.price);

/** Prices of one invoice that are given otherwise at once. */
const pricesMaximum = 100;

const givenPriceSchema = z
  .object({
    price_id: z.string().min(1).max(64).meta({ description: 'Price of lines of the invoice' }),
    amount: amountSchema
      .optional()
      .meta({ description: 'Its amount as it should have been; of a tiered price none' }),
    tiers: overrideFiguresShape.tiers.meta({
      description: 'Its tiers as they should have been; of a tiered price alone',
    }),
  })
  .meta({ id: 'RerateInvoicePrice', description: 'A price as it should have been' });
export type GivenPrice = z.output<typeof givenPriceSchema>;

/** Body of POST /invoices/{id}/rerate (D52). */
export const rerateInvoiceSchema = z
  .object({
    prices: z
      .array(givenPriceSchema)
      .min(1)
      .max(pricesMaximum)
      .meta({ description: 'Prices as they should have been; the others stay' }),
    apply: z.boolean().default(false).meta({
      description: 'Whether the difference is mended: by a credit note, an invoice, or both',
    }),
    memo: textSchema(1024).optional().meta({ description: 'Reason that the documents show' }),
  })
  .meta({ id: 'RerateInvoice', description: 'Prices under which an invoice is rated again' });
export type RerateInvoice = z.output<typeof rerateInvoiceSchema>;

const text = (description: string) => z.string().meta({ description });

const figuresSchema = z
  .object({
    subtotal: text('Sum of the lines'),
    total_discount: text('Sum of the discounts'),
    total_tax: text('Sum of the taxes'),
    total: text(
      'subtotal − total_discount + total_tax less the tax that is in amounts, before prepaid credits',
    ),
  })
  .meta({ id: 'RatedFigures', description: 'Figures of an invoice before prepaid credits' });

const ratedLineSchema = z
  .object({
    line_item_id: text('Id of the line; of one that the invoice does not have, that it would have'),
    display_name: text('Name of the line'),
    price_id: z.string().nullable().meta({ description: 'Id of its price' }),
    quantity: text('Quantity that is charged for'),
    amount_before: text('Amount as it was billed'),
    amount_after: text('Amount under the given prices'),
    net_difference: text('After discounts and before tax: what is after less what was before'),
    tax_difference: text('Difference of the tax that comes on top of that'),
    corrected_before: text('Part of net_difference that earlier requests have mended'),
  })
  .meta({ id: 'RatedInvoiceLine', description: 'A line as it was billed, and rated again' });
export type RatedAgainLine = z.output<typeof ratedLineSchema>;

/** Answer of POST /invoices/{id}/rerate. */
export const ratedAgainSchema = z
  .object({
    invoice_id: text('Id of the invoice'),
    currency: text('Code of the currency'),
    lines: z.array(ratedLineSchema).meta({ description: 'Lines that come out otherwise' }),
    before: figuresSchema.meta({ description: 'As it was billed' }),
    after: figuresSchema.meta({ description: 'Under the given prices' }),
    difference: text('Total after less total before; above zero is owed'),
    applied: z.boolean().meta({ description: 'Whether it has been mended by this request' }),
    credit_note_id: z
      .string()
      .nullable()
      .meta({ description: 'Credit note for lines that cost less; null: none' }),
    correction_invoice_id: z
      .string()
      .nullable()
      .meta({ description: 'Invoice for lines that cost more; null: none' }),
  })
  .meta({ id: 'RatedAgain', description: 'An invoice under other prices' });
export type RatedAgain = z.output<typeof ratedAgainSchema>;
