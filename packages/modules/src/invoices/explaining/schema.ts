import { pageShape } from '@counterfoil/engine/define';
import { z } from 'zod';
import { priceSchema } from '../../offers/index.ts';
import { quoteSchema } from '../../pricing/index.ts';
import { taxBehaviorSchema, taxExemptionSchema } from '../../taxes/index.ts';
import { listKeySchema } from '../../usage/index.ts';
import { invoiceStatusSchema, lineKindSchema } from '../values.ts';

const text = (description: string) => z.string().meta({ description });
const textOrNull = (description: string) => z.string().nullable().meta({ description });
const whole = (description: string) => z.number().int().meta({ description });

/** Buckets and windows that are shown of one line. */
export const shownBuckets = 100;

const spanShape = { start: text('Beginning'), end: text('End, exclusive') } as const;
const spanSchema = z.object(spanShape).meta({ id: 'ExplainedSpan' });

const allowanceSchema = z
  .object({
    limit: textOrNull('Usage that is free in each of its periods; null: all'),
    resets: textOrNull('When it starts over; null: with the billing period'),
    windows: z
      .array(
        z.object({
          start: text('Beginning of the period of the allowance'),
          end: textOrNull('Its end; null: it never starts over'),
          before: text('Used in it before the time of the line'),
          through: text('Used in it up to the end of the line, or its own'),
          above_before: text('Part of `before` above the limit'),
          above_through: text('Part of `through` above the limit'),
          billable: text('above_through − above_before'),
        }),
      )
      .meta({ description: `Its periods that the line meets, the first ${shownBuckets}` }),
    windows_total: whole('Number of its periods that the line meets'),
  })
  .meta({ id: 'ExplainedAllowance' });

const usageSchema = z
  .object({
    meter_id: text('Id of the meter'),
    event_name: text('Name of the events that it counts'),
    filters: z
      .array(
        z.object({
          key: text('Property'),
          values: z.array(z.string()).meta({ description: 'Values of which an event has one' }),
        }),
      )
      .meta({ description: 'Which of them it counts' }),
    aggregation: text('How it counts them'),
    events: whole('Number of events that were counted'),
    stretches: z
      .array(
        z.object({
          ...spanShape,
          customer_ids: z.array(z.string()).meta({ description: 'Customers whose usage counts' }),
        }),
      )
      .meta({ description: `When usage counts, and whose; the first ${shownBuckets}` }),
    measured: text('Quantity that was counted'),
    taken: text('Part of it that the allowance covers'),
    below_zero: text('Part that corrections take below zero'),
    billable: text('measured − taken − below_zero'),
    allowance: allowanceSchema.nullable().meta({ description: 'Usage that is free; null: none' }),
  })
  .meta({ id: 'ExplainedUsage' });
export type ExplainedUsage = z.output<typeof usageSchema>;

const splitShape = {
  committed: text('Amount that is paid in any case'),
  prior: text('Used of it by earlier periods of its term'),
  used: text('Cost of the usage, before any factor'),
  utilized: text('Part within the commitment'),
  overage_base: text('Part above it'),
  overage_factor: text('Factor of what is above'),
  overage: text('overage_base × overage_factor'),
  true_up: text('Rest that was not used, where it is charged'),
} as const;

const commitmentSchema = z
  .object({
    ...splitShape,
    amount: text('utilized + overage + true_up'),
  })
  .meta({ id: 'ExplainedCommitment' });

const windowedSchema = z
  .object({
    utilized: text('Parts within the commitments of windows'),
    overage: text('Parts above them, with their factor'),
    true_up: text('Rests that were not used, where they are charged'),
    uncommitted: text('Cost of windows without commitment'),
    windows: z
      .array(
        z.object({
          start: text('Beginning of the window'),
          cost: text('Cost of its usage'),
          amount: text('Amount that is charged'),
          commitment: commitmentSchema.nullable().meta({ description: 'Null: it has none' }),
        }),
      )
      .meta({ description: `Windows with usage, the first ${shownBuckets}` }),
    windows_total: whole('Number of windows with usage'),
    empty: z
      .array(
        z.object({
          windows: whole('Number of windows'),
          each: text('True-up of each'),
          amount: text('windows × each'),
        }),
      )
      .meta({ description: 'Windows without usage that are charged' }),
  })
  .meta({ id: 'ExplainedWindows' });

const sharedCommitmentSchema = z
  .object({
    ...splitShape,
    line_amount: textOrNull('Amount of this line without the commitment; null: it is the rest'),
    line_utilized: textOrNull('Its share of what is within'),
    line_overage_base: textOrNull('Its share of what is above'),
    line_overage: textOrNull('Its share of the overage that is charged'),
    overage_before: text('Overage that earlier periods of the term have charged'),
    overage_through: text('Overage of the term so far, rounded'),
  })
  .meta({ id: 'ExplainedSharedCommitment' });

const prorationSchema = z
  .object({
    full_amount: text('What the quantity costs for the whole, exact'),
    span: spanSchema.meta({ description: 'Time that is charged for' }),
    whole: spanSchema.meta({ description: 'Time that the full amount pays for' }),
    billable_milliseconds: text('Length of `span` without pauses'),
    whole_milliseconds: text('Length of `whole` without pauses'),
    cost_before: textOrNull('Cost of the quantity before it grew, where what was added is charged'),
    amount: text('full_amount × billable ÷ whole, rounded once'),
  })
  .meta({ id: 'ExplainedProration' });

const creditSchema = z
  .object({
    span: spanSchema.meta({ description: 'Time that is not used any more' }),
    whole: spanSchema.meta({ description: 'Time that was charged for' }),
    charged: text('Money that was charged for the whole'),
    credited_before: text('Money of that which was given back before'),
    credit: text('Money that is given back in all'),
    invoice_id: textOrNull('Invoice of the charge; null: it was not final'),
  })
  .meta({ id: 'ExplainedCredit' });

const lateSchema = z
  .object({
    quantity_now: text('Quantity of all of the usage that is charged for'),
    amount_now: text('What all of the usage comes to'),
    billed: z
      .array(
        z.object({
          line_item_id: text('Line that has billed it'),
          quantity: text('Its quantity'),
          amount: text('Its amount'),
        }),
      )
      .meta({ description: 'Lines that have billed it so far' }),
    quantity: text('quantity_now − what was billed'),
    amount: text('amount_now − what was billed'),
  })
  .meta({ id: 'ExplainedLateUsage' });

const lineSchema = z
  .object({
    line_item_id: text('Id of the line'),
    line_kind: lineKindSchema,
    display_name: text('Name of the line'),
    quantity: text('Quantity that is charged for; of usage after the allowance'),
    amount: text('Amount before discounts'),
    settlement: z
      .object({
        settlement_id: text('Id of the settlement'),
        subscription_id: text('Id of the subscription'),
        reason: text('Occasion of the settlement'),
        at: text('When it took effect'),
        period_index: z
          .number()
          .int()
          .nullable()
          .meta({ description: 'Number of the period; null: none ran' }),
      })
      .nullable()
      .meta({ description: 'What was settled; null for a line that was given' }),
    price: priceSchema.nullable().meta({ description: 'The price as it was sold' }),
    usage: usageSchema.nullable().meta({ description: 'Null for a line of no usage' }),
    cost: quoteSchema.nullable().meta({
      description: `What the price makes of the quantity; of buckets the first ${shownBuckets}`,
    }),
    buckets_total: whole('Number of buckets that were priced each on its own; 1 without buckets'),
    proration: prorationSchema
      .nullable()
      .meta({ description: 'Null where nothing is charged in advance' }),
    credit: creditSchema
      .nullable()
      .meta({ description: 'Null for a line that gives nothing back' }),
    commitment: commitmentSchema.nullable().meta({ description: 'The commitment of the line' }),
    windows: windowedSchema.nullable().meta({ description: 'The commitments of its windows' }),
    shared_commitment: sharedCommitmentSchema
      .nullable()
      .meta({ description: 'The commitment of all usage together' }),
    late: lateSchema.nullable().meta({
      description:
        'The part of usage that came late, or was billed by amount before: usage and cost tell the whole of it; null for other lines',
    }),
    unrounded_amount: textOrNull('Exact; null where nothing is rounded'),
    line_item_discount: text('What coupons of the line take off'),
    invoice_level_discount: text('Its share of what coupons of the whole take off'),
    net_amount: text('amount − line_item_discount − invoice_level_discount'),
    prepaid_credits_applied: text('Its share of prepaid credits'),
    tax_behavior: taxBehaviorSchema.meta({
      description: 'Whether its tax is in the amount (`inclusive`), or comes on top (`exclusive`)',
    }),
    tax_amount: text('Its share of the taxes, by largest remainder'),
  })
  .meta({ id: 'ExplainedInvoiceLine' });
export type ExplainedLine = z.output<typeof lineSchema>;

const shareSchema = z
  .object({ line_item_id: text('Id of the line'), amount: text('Its share') })
  .meta({ id: 'ExplainedShare' });

const couponSchema = z
  .object({
    coupon_application_id: text('Id of the discount'),
    coupon_id: text('Id of the coupon'),
    coupon_association_id: textOrNull('Id of its redemption'),
    name: text('Name of the coupon'),
    line_item_id: textOrNull('Line that it is taken off; null: several together'),
    percentage_off: textOrNull('Percentage that it takes off'),
    amount_off: textOrNull('Amount that it takes off'),
    original_price: text('What it is taken off'),
    discounted_amount: text('What it takes off, rounded once'),
    final_price: text('What is left'),
    shares: z
      .array(shareSchema)
      .meta({ description: 'What it takes off each line, by largest remainder' }),
  })
  .meta({ id: 'ExplainedCoupon' });

const taxSchema = z
  .object({
    tax_rate_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the rate; null: a tax provider has worked it out' }),
    code: text('Code of the rate'),
    name: text('Name of the rate'),
    percentage: textOrNull('Percentage of what is taxable; null: it is an amount'),
    fixed: textOrNull('Amount; null: it is a percentage'),
    taxable_amount: text('Lines less their discounts, and less the tax that is in them'),
    tax_amount: text(
      'What it comes to, rounded once for what it is on top of, and once for what it is in',
    ),
    included_amount: text('The part of it that is in the amounts of lines'),
    line_item_ids: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The lines that it is for; null: all' }),
  })
  .meta({ id: 'ExplainedTax' });

const creditsSchema = z
  .object({
    wallet_id: text('Id of the wallet'),
    hold_id: text('Id of the hold'),
    credits: text('Credits that were taken'),
    amount: text('Their worth in money'),
    allowed_price_types: z
      .array(z.string())
      .meta({ description: 'Types of lines that it may pay' }),
    covers_tax: z.boolean().meta({ description: 'Whether it pays the tax of such lines' }),
    shares: z.array(shareSchema).meta({ description: 'What it pays of each line' }),
  })
  .meta({ id: 'ExplainedCredits' });

const sumSchema = z
  .object({
    figure: text('Name of the figure'),
    terms: z
      .array(
        z.object({
          name: text('Name of the term, or id of a line'),
          amount: text('Signed amount'),
        }),
      )
      .meta({ description: 'What is added up' }),
    amount: text('Their sum, at least 0 for a total'),
  })
  .meta({ id: 'ExplainedSum' });

const differenceSchema = z
  .object({
    line_id: textOrNull('Id of the line; null: the whole'),
    display_name: textOrNull('Name of the line'),
    figure: text('Name of the figure'),
    expected: textOrNull('As it comes out'),
    found: textOrNull('As it was recorded'),
  })
  .meta({ id: 'FigureDifference' });

const eventsSchema = z
  .object({
    line_item_id: text('Line whose events these are'),
    events: z
      .array(
        z.object({
          event_id: text('Id of the usage event'),
          timestamp: text('When it was used'),
          source: text('Source of the event'),
          position: text('Its place in the log'),
          value: textOrNull('What the meter takes of it; null: the event itself counts'),
        }),
      )
      .meta({ description: 'In the order of time' }),
    has_more: z.boolean().meta({ description: 'Whether more follow' }),
    iter_last_key: textOrNull('Where the next page begins; null: nothing follows'),
  })
  .meta({ id: 'ExplainedEvents' });

/** Answer of GET /invoices/{id}/explain: every figure down to what it came from (ADR 49). */
export const invoiceExplanationSchema = z
  .object({
    invoice_id: text('Id of the invoice'),
    invoice_number: textOrNull('Its number; null for a draft'),
    invoice_status: invoiceStatusSchema,
    currency: text('Code of the currency'),
    position: textOrNull('Position of the log up to which usage counts; null: none is billed'),
    computed_position: text('Position of the log up to which everything else counts'),
    rules: whole('Version of the rules of rating'),
    lines: z.array(lineSchema).meta({ description: 'Every line, or the one that was asked for' }),
    coupons: z.array(couponSchema).meta({ description: 'What was taken off, in that order' }),
    taxes: z.array(taxSchema).meta({ description: 'What was added; none is taxed by another' }),
    tax_exemption: taxExemptionSchema
      .nullable()
      .meta({ description: 'Why no tax is taken that would be otherwise; null: none is left out' }),
    credits: z
      .array(creditsSchema)
      .meta({ description: 'Prepaid credits, in the order in which they pay' }),
    sums: z.array(sumSchema).meta({ description: 'How the figures of the whole add up' }),
    differences: z
      .array(differenceSchema)
      .meta({ description: 'Figures that do not come out as they were recorded: none' }),
    usage_explained: z.boolean().meta({
      description: 'False where lines of usage have no steps: too many events, or dropped ones',
    }),
    dropped_months: z.array(z.string()).optional().meta({
      description:
        'Months whose events are no longer kept one by one: lines of usage are not explained then',
    }),
    events: eventsSchema
      .optional()
      .meta({ description: 'The events of the line that was asked for' }),
  })
  .meta({ id: 'InvoiceExplanation' });
export type InvoiceExplanation = z.output<typeof invoiceExplanationSchema>;

/** Query of GET /invoices/{id}/explain. */
export const explainQuerySchema = z.object({
  line_item_id: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'One line alone, with the usage events that it was counted from' }),
  limit: pageShape.limit.meta({ description: 'Usage events of a page' }),
  iter_last_key: listKeySchema
    .optional()
    .meta({ description: 'The `iter_last_key` of the page before' }),
});
export type ExplainQuery = z.output<typeof explainQuerySchema>;
