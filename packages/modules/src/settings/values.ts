import {
  decimal,
  decimalPlaces,
  positiveDecimalSchema,
  requiredTextSchema,
  textSchema,
  timeZoneSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { taxBehaviorSchema } from '../taxes/index.ts';

/** The part of an invoice's number that says when it was made final (E 15.4). */
const numberFormatSchema = z
  .enum(['YYYYMM', 'YYYYMMDD', 'YYMMDD', 'YY', 'YYYY'])
  .meta({ id: 'InvoiceNumberFormat' });
export type NumberFormat = z.output<typeof numberFormatSchema>;

/** Characters that are read aloud, typed and put into names of files without trouble. */
const isPlain = (text: string): boolean => /^[A-Za-z0-9_\-/.#]*$/.test(text);
const plainFault = 'may have letters, digits and - _ / . # only';

const monthSeconds = 30 * 86_400;
const yearDays = 366;

const invoiceConfigSchema = z
  .object({
    prefix: requiredTextSchema(20).refine(isPlain, plainFault),
    format: numberFormatSchema,
    separator: textSchema(3).refine(isPlain, plainFault),
    suffix_length: z.number().int().min(1).max(12),
    start_sequence: z.number().int().min(1).max(1_000_000_000),
    timezone: timeZoneSchema,
    due_date_days: z.number().int().min(0).max(yearDays),
    finalization_delay_seconds: z.number().int().min(0).max(monthSeconds),
    prepaid_credits_cover_tax: z.boolean(),
  })
  .meta({ id: 'InvoiceConfig' });

const subscriptionConfigSchema = z
  .object({
    grace_period_days: z.number().int().min(0).max(yearDays),
    auto_cancellation_enabled: z.boolean(),
    /** Days after the due date of its first invoice until a subscription that waits for the payment ends. */
    incomplete_expiry_days: z.number().int().min(0).max(yearDays),
    /** Days after an attempt to collect an invoice until the next; with the last of them it ends. */
    payment_retry_days: z.array(z.number().int().min(1).max(60)).max(12),
  })
  .meta({ id: 'SubscriptionConfig' });

const slabsMaximum = 20;

const bonusSlabSchema = z
  .object({
    threshold: positiveDecimalSchema(decimalPlaces.credits),
    type: z.enum(['flat', 'percentage']),
    value: positiveDecimalSchema(decimalPlaces.credits),
    /** Days from the load until the bonus expires; null: it never does. */
    expiry_days: z.number().int().min(1).max(3_660).nullable().default(null),
  })
  .meta({ id: 'BonusSlab' });

const bonusConfigSchema = z
  .object({
    enabled: z.boolean(),
    slabs: z
      .array(bonusSlabSchema)
      .max(slabsMaximum)
      .refine(
        (slabs) =>
          slabs.every(({ threshold }, place) =>
            slabs.slice(0, place).every((each) => !decimal(each.threshold).eq(decimal(threshold))),
          ),
        'must have each threshold once',
      ),
  })
  .meta({ id: 'BonusConfig' });

const taxConfigSchema = z
  .object({
    /** The place of the tax of prices that do not say it themselves when they are made. */
    default_behavior: taxBehaviorSchema.meta({
      description: 'Where the tax of a price is that does not say it when it is made',
    }),
  })
  .meta({ id: 'TaxConfig' });

/** Everything that can be set, by key: the form of its value, and the value that counts until it is set (E 0). */
export const definitions = {
  invoice_config: {
    called: 'the numbers and dates of invoices',
    schema: invoiceConfigSchema,
    defaults: {
      prefix: 'INV',
      format: 'YYYYMM',
      separator: '-',
      suffix_length: 5,
      start_sequence: 1,
      timezone: 'UTC',
      due_date_days: 1,
      finalization_delay_seconds: 7200,
      prepaid_credits_cover_tax: false,
    },
  },
  subscription_config: {
    called: 'what becomes of subscriptions that are not paid for',
    schema: subscriptionConfigSchema,
    defaults: {
      grace_period_days: 3,
      auto_cancellation_enabled: false,
      incomplete_expiry_days: 3,
      payment_retry_days: [1, 3, 5, 7],
    },
  },
  bonus_credits_topup_config: {
    called: 'the bonus that purchases of credits bring',
    schema: bonusConfigSchema,
    defaults: { enabled: false, slabs: [] },
  },
  tax_config: {
    called: 'the taxes of new prices',
    schema: taxConfigSchema,
    defaults: { default_behavior: 'exclusive' },
  },
} as const satisfies Record<string, Definition>;

interface Definition {
  /** The words for it in the summaries of its routes. */
  readonly called: string;
  readonly schema: z.ZodObject;
  readonly defaults: object;
}

export type SettingKey = keyof typeof definitions;
export type SettingValue<Key extends SettingKey> = z.output<(typeof definitions)[Key]['schema']>;
