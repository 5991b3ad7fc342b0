import type { Currency, DecimalText, Instant, Span, WindowRhythm } from '@counterfoil/kernel';
import type { ResetPeriod } from '../entitlements/index.ts';
import type { AggregationType } from '../meters/index.ts';
import type { PriceTerms } from '../pricing/index.ts';

/** The meter that a quantity is of, and what was counted: goes into the explanation, so that anybody can count again. */
export interface MeteredBy {
  readonly meter_id: string;
  readonly aggregation: AggregationType;
  readonly events: number;
  /** The position of the log up to which was counted. */
  readonly position: string;
}

/** The usage in one period of an allowance, as far as the rated period reaches. */
export interface UsageWindow {
  /** The period of the allowance, whole. */
  readonly start: Instant;
  /** Null: the allowance never starts over. */
  readonly end: Instant | null;
  /** Used from its start until the rated period begins; "0" where it begins within that. */
  readonly before: DecimalText;
  /** Used from its start until it or the rated period ends, whatever is sooner. */
  readonly through: DecimalText;
}

/** The value of one bucket, or of one group of it. */
export interface UsageBucket {
  /** The start of the bucket, whole, even where the rated period begins later. */
  readonly start: Instant;
  readonly group: string;
  readonly quantity: DecimalText;
}

/**
 * The usage that was measured; an aggregation without a value is "0". A bucketed meter comes in buckets, unless an allowance with a limit is taken from it: then, as all
 * others, by the windows that `usageWindows` names.
 */
export type Usage = { readonly metered_by: MeteredBy } & (
  | { readonly kind: 'windows'; readonly windows: readonly UsageWindow[] }
  | {
      readonly kind: 'buckets';
      readonly rhythm: WindowRhythm;
      readonly buckets: readonly UsageBucket[];
    }
);

/** The usage that an entitlement gives for nothing. One that is disabled is none. */
export interface Allowance {
  /** For every reset period; null: unlimited. */
  readonly limit: DecimalText | null;
  /** Null: with the billing period. */
  readonly resets: ResetPeriod | null;
}

/** An amount that is paid in any case, and the price of what comes above it. */
export interface CommitmentTerms {
  /** An amount of money, or what a quantity costs under the price of the line. */
  readonly committed:
    | { readonly kind: 'amount'; readonly amount: DecimalText }
    | { readonly kind: 'quantity'; readonly quantity: DecimalText };
  /** At least 1. Usage above the commitment costs so many times its price. */
  readonly overage_factor: DecimalText;
  /** True where the unused rest of it is charged too. */
  readonly true_up: boolean;
}

/** A part of the day with a price and a commitment of its own, for each window that begins in it. */
export interface CommitmentSlot {
  /** Minutes since midnight in the zone of the buckets. */
  readonly from_minute: number;
  /** Exclusive. At or below `from_minute` it is on the next day, and the slot goes over midnight. */
  readonly to_minute: number;
  readonly terms: PriceTerms;
  readonly commitment: CommitmentTerms;
}

/** The commitment of one line of usage. */
export type LineCommitment =
  | {
      readonly kind: 'term';
      readonly terms: CommitmentTerms;
      /** The exact cost of what earlier periods of the term used, before any factor; "0" in the first. */
      readonly prior: DecimalText;
      /** True for the last period of the term: only that trues up. */
      readonly closes_term: boolean;
    }
  | {
      readonly kind: 'windowed';
      /** Of each window outside the slots; null: those have none. */
      readonly terms: CommitmentTerms | null;
      readonly slots: readonly CommitmentSlot[];
      /** Windows that end later are not trued up yet. */
      readonly as_of: Instant;
    };

interface CommonRequest {
  readonly currency: Currency;
  readonly terms: PriceTerms;
  /** The time that is charged for. */
  readonly period: Span;
}

/** A charge that does not depend on usage. */
export interface FixedLine extends CommonRequest {
  readonly kind: 'fixed';
  readonly quantity: DecimalText;
}

/** A charge for what was used. */
export interface UsageLine extends CommonRequest {
  readonly kind: 'usage';
  readonly usage: Usage;
  readonly allowance: Allowance | null;
  readonly commitment: LineCommitment | null;
}

/** Everything that the amount of a line depends on. */
export type RatingRequest = FixedLine | UsageLine;
