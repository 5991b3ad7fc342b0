import {
  type Currency,
  type DecimalText,
  decimal,
  derivedId,
  type Instant,
  type SettlementId,
  type Span,
  type SubscriptionId,
  type SubscriptionLineId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** Something that is charged: the share that `span` has of `whole`, of what `whole` costs. */
export interface SettlementCharge {
  readonly kind: 'charge';
  readonly line_item_id: SubscriptionLineId;
  /** The time that is charged for; of a price that is charged once its instant, with an end at its start. */
  readonly span: Span;
  /** The time that the full amount pays for. */
  readonly whole: Span;
  /** The quantity that is charged for; of a quantity that grows what is added. */
  readonly quantity: DecimalText;
  /** The cost of the quantity for `whole`, exact. */
  readonly full_amount: DecimalText;
  /** Money: rounded once. */
  readonly amount: DecimalText;
}

/** Something that was charged in advance and is given back: the share that `span` has of `whole`, less earlier credits. */
export interface SettlementCredit {
  readonly kind: 'credit';
  /** The line that was charged. */
  readonly line_item_id: SubscriptionLineId;
  /** The time that is not used any more. */
  readonly span: Span;
  /** The time that was charged for. */
  readonly whole: Span;
  /** Money that was charged for `whole`. */
  readonly charged: DecimalText;
  /** Money of that which was given back before. */
  readonly credited_before: DecimalText;
  /** Money, greater than zero. */
  readonly amount: DecimalText;
  /** The invoice of the charge, where that is final: `charged` and the credit are net of its discounts then. */
  readonly invoice_id?: string | undefined;
  /** Money: the tax that goes back with the credit. */
  readonly tax?: DecimalText | undefined;
}

/** A line whose usage in a span is now to be billed. Its amount is found when its invoice is made. */
export interface SettlementUsage {
  readonly kind: 'usage';
  readonly line_item_id: SubscriptionLineId;
  readonly span: Span;
  /** Pauses within the span: usage in them is not billed. */
  readonly excluded: readonly Span[];
}

/** An amount that usage, billed here or before in `span`, is held against when it is rated (E 14). */
export interface SettlementCommitment {
  readonly kind: 'commitment';
  /** Null: all usage of the subscription together. */
  readonly line_item_id: SubscriptionLineId | null;
  /** The time that it is for: a period, a term of several, or what there was of it. */
  readonly span: Span;
  readonly committed: DecimalText;
  readonly overage_factor: DecimalText;
  /** True where what is left of it is charged now. */
  readonly true_up: boolean;
}

export type SettlementLine =
  | SettlementCharge
  | SettlementCredit
  | SettlementUsage
  | SettlementCommitment;

/** The reasons for which something is settled. */
export const settlementReasons = [
  'period_opened',
  'period_closed',
  'line_added',
  'line_removed',
  'line_changed',
  'quantity_changed',
  'addon_added',
  'addon_removed',
  'phase_added',
  'phase_removed',
  'cancelled',
  'plan_changed',
  'pause_ended',
  'plan_synced',
  'threshold_reached',
] as const;
export type SettlementReason = (typeof settlementReasons)[number];

/** The charges and credits of one act or one step, with every figure. */
export interface Settlement {
  /** Follows from its cause, so that the same cause settles once. */
  readonly settlement_id: SettlementId;
  readonly reason: SettlementReason;
  /** The period that it belongs to; null where none runs. */
  readonly period_index: number | null;
  /** The instant at which its cause takes effect. */
  readonly at: Instant;
  readonly currency: Currency;
  /** Sum of the credits. */
  readonly credit_amount: DecimalText;
  /** Sum of the charges. */
  readonly charge_amount: DecimalText;
  /** `charge_amount − credit_amount`. */
  readonly net_amount: DecimalText;
  readonly lines: readonly SettlementLine[];
}

/** The cause of a settlement. */
export interface SettlementCause {
  readonly subscription_id: SubscriptionId;
  readonly reason: SettlementReason;
  /** Tells it from others for the same reason: the number of a period, or the key of a command. */
  readonly key: string;
  readonly period_index: number | null;
  readonly at: Instant;
  readonly currency: Currency;
}

/** Makes a settlement of its lines: with its id and its sums. */
export function settlementOf(
  { subscription_id, key, ...cause }: SettlementCause,
  lines: readonly SettlementLine[],
): Settlement {
  const charges = sumOf(lines, 'charge');
  const credits = sumOf(lines, 'credit');
  return {
    settlement_id: derivedId('settlement', `${subscription_id}\n${cause.reason}\n${key}`),
    ...cause,
    credit_amount: textOf(credits),
    charge_amount: textOf(charges),
    net_amount: textOf(charges.minus(credits)),
    lines,
  };
}

const sumOf = (lines: readonly SettlementLine[], kind: 'charge' | 'credit') =>
  lines.reduce(
    (sum, line) => (line.kind === kind && 'amount' in line ? sum.plus(decimal(line.amount)) : sum),
    zero,
  );

const spanSchema = z
  .object({
    start: z.string().meta({ description: 'Beginning' }),
    end: z.string().meta({ description: 'End, exclusive' }),
  })
  .meta({ id: 'Span' });

const lineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('charge'),
    line_item_id: z.string(),
    span: spanSchema,
    whole: spanSchema,
    quantity: z.string(),
    full_amount: z.string(),
    amount: z.string(),
  }),
  z.object({
    kind: z.literal('credit'),
    line_item_id: z.string(),
    span: spanSchema,
    whole: spanSchema,
    charged: z.string(),
    credited_before: z.string(),
    amount: z.string(),
    invoice_id: z.string().optional().meta({
      description: 'Invoice of the charge, where it is final: the credit is net of discounts',
    }),
    tax: z.string().optional().meta({ description: 'Tax that goes back with the credit' }),
  }),
  z.object({
    kind: z.literal('usage'),
    line_item_id: z.string(),
    span: spanSchema,
    excluded: z.array(spanSchema),
  }),
  z.object({
    kind: z.literal('commitment'),
    line_item_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the line; null: all usage together' }),
    span: spanSchema,
    committed: z.string(),
    overage_factor: z.string(),
    true_up: z.boolean(),
  }),
]);

/** A settlement as it is recorded and shown. */
export const settlementSchema = z
  .object({
    settlement_id: z.string(),
    reason: z.enum(settlementReasons),
    period_index: z.number().int().nullable(),
    at: z.string(),
    currency: z.string(),
    credit_amount: z.string(),
    charge_amount: z.string(),
    net_amount: z.string(),
    lines: z.array(lineSchema),
  })
  .meta({ id: 'Settlement' });
