import {
  type Currency,
  type DecimalText,
  decimal,
  digitsFault,
  type Instant,
  invalidField,
  zero,
} from '@counterfoil/kernel';
import type { SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { closingLines } from '../settlement/index.ts';
import { foldAll, type Subscription } from '../subscription.ts';
import { dueEvents, linesOf, settled, settlementContext } from '../time/due.ts';
import { isLive, nextStep } from '../time/steps.ts';

/** Invoices by amount that one period has at most: what is used beyond them is billed when it closes. */
export const thresholdsMaximum = 100;

/** The amount of usage in a period from which on it is invoiced, as a request asks for it; null for none. */
export function thresholdOf(
  amount: DecimalText | null | undefined,
  { currency, isAlone, isCommitted }: ThresholdHost,
): DecimalText | null {
  if (amount === null || amount === undefined) return null;
  const pointer = '/auto_invoice_threshold';
  if (decimal(amount).cmp(zero) <= 0) throw invalidField(pointer, 'must be greater than zero');
  const fault = digitsFault(amount, currency);
  if (fault) throw invalidField(pointer, fault);
  if (!isAlone) {
    throw invalidField(pointer, 'is for a subscription that stands alone: without inheritance');
  }
  if (isCommitted) {
    throw invalidField(
      pointer,
      'cannot be held against commitments: leave one of them out, what is committed to is billed by its period',
    );
  }
  return amount;
}

/** The subscription that is to be invoiced by amount. */
interface ThresholdHost {
  readonly currency: Currency;
  /** True where it belongs to no other one, and nobody inherits it. */
  readonly isAlone: boolean;
  /** True where usage of it is committed to. */
  readonly isCommitted: boolean;
}

/** An amount of usage that was seen in the running period. */
export interface ReachedThreshold {
  readonly period_index: number;
  /** Invoices by amount of that period before this one. */
  readonly number: number;
  /** The usage up to here is billed. */
  readonly until: Instant;
}

/**
 * Settles the usage of the running period up to an instant, because it has come to the amount from which on it is invoiced (ADR 47, E 10.10 B):
 * once for each number. Nothing of the period changes by it, and what closes it bills the rest. No event where another period runs, or another
 * one has come before.
 */
export const reachThreshold =
  (reached: ReachedThreshold): SubscriptionDecision =>
  (state, at) => {
    if (state === null || !isLive(state)) return [];
    const due = dueEvents(state, at);
    const current = foldAll(state, due);
    const next = nextStep(current);
    if (next !== null && next.at <= at) return due;
    return [...due, ...thresholdEvents(current, reached)];
  };

function thresholdEvents(
  current: Subscription,
  { period_index, number, until }: ReachedThreshold,
): readonly SubscriptionEvent[] {
  const { opened, auto_invoice_threshold, threshold_count } = current;
  const isOpen = current.subscription_status === 'active' && current.commitment === null;
  if (auto_invoice_threshold === null || opened === null || !isOpen) return [];
  if (opened.index !== period_index || threshold_count !== number) return [];
  if (number >= thresholdsMaximum || until <= opened.start || until >= opened.end) return [];
  const lines = closingLines(
    linesOf({ ...current, lines: current.lines.filter(isBilledByAmount) }, current.end_date),
    settlementContext(current, { ...opened, end: until }),
  ).filter(({ kind }) => kind === 'usage');
  const cause = { reason: 'threshold_reached', period_index } as const;
  return settled(current, cause, until, lines, `${period_index}\n${number}`);
}

/** Tells whether a line is billed by amount: one that is committed to is billed by its period, and one with periods of its own by those. */
const isBilledByAmount = ({ price, commitment, own }: Subscription['lines'][number]): boolean =>
  price.type === 'USAGE' && commitment === null && own === null;
