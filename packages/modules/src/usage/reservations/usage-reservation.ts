import {
  aggregate,
  canonicalJson,
  type Decimal,
  type DecimalText,
  type Decision,
  decimal,
  type EventOf,
  type Instant,
  sha256,
  textOf,
  zeroText,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { usageEventData } from '../usage-event.ts';

const figure = z.string().transform((value) => value as DecimalText);
const instant = z.string().transform((value) => value as Instant);

const events = {
  /** Usage was let through within a hard limit, and counts from here on (ADR 42). */
  UsageReserved: z.object({
    customer_id: z.string(),
    feature_id: z.string(),
    /** The period of the limit; null where it never starts over. */
    period_start: instant.nullable(),
    period_end: instant.nullable(),
    limit: figure,
    /** The use that it is. */
    quantity: figure,
    /** The use of the period with it, as it was decided on. */
    used: figure,
    /** The position in the log up to which usage was known that no reservation had let through. */
    counted_up_to: z.string(),
    usage: usageEventData,
  }),
} as const;
export type UsageReservationEvent = EventOf<typeof events>;
export type UsageReservedData = UsageReservationEvent['data'];

/** The sum of what was let through. */
export interface ReservedUsage {
  readonly reserved: DecimalText;
}

/**
 * The usage that was let through of one feature, for one customer or for all who share a limit, in one period of it. Its fold is a sum, and it
 * ends with its period.
 */
export const usageReservation = aggregate({
  name: 'usage_reservation',
  scope: 'environment',
  events,
  initial: { reserved: zeroText } as ReservedUsage,
  evolve: ({ reserved }, { data }): ReservedUsage => ({ reserved: sum(reserved, data.quantity) }),
});

const sum = (left: DecimalText, right: DecimalText): DecimalText =>
  textOf(decimal(left).plus(decimal(right)));

/** The holder of the limit, the feature and the period that a reservation is of. */
export interface ReservationPlace {
  /** The customer; the subscription where several customers use its limit up together. */
  readonly holderId: string;
  readonly featureId: string;
  /** Null where the limit never starts over. */
  readonly periodStart: Instant | null;
}

const digitsOf128Bits = 32;

/** The id of the stream of a holder, a feature and a period. */
export const reservationId = ({ holderId, featureId, periodStart }: ReservationPlace): string =>
  sha256(canonicalJson([holderId, featureId, periodStart])).slice(0, digitsOf128Bits);

/** Use of a period that came by no reservation: figures that lie around it, because it moves while it is read. */
export interface PlainUsage {
  readonly least: Decimal;
  readonly most: Decimal;
  /** The position in the log up to which it was counted. */
  readonly position: string;
}

/** The use that is wanted, and what it is held against. */
export interface WantedUsage extends Omit<UsageReservedData, 'used' | 'counted_up_to'> {
  readonly plain: PlainUsage;
}

/** Thrown by a decision: with the wanted use, the limit would be passed. Nothing is recorded. */
export class LimitReached extends Error {
  readonly used: DecimalText;
  readonly position: string;

  constructor(used: DecimalText, position: string) {
    super(`${used} is used up to ${position}`);
    this.name = 'LimitReached';
    this.used = used;
    this.position = position;
  }
}

/** Thrown by a decision: whether the limit would be passed depends on what is still to be counted. Read it again. */
export class PlainUsageUnclear extends Error {}

/**
 * Lets use through when it is within the limit together with all that was let through before, and with what came by no
 * reservation (ADR 42).
 */
export const reserveUsage =
  ({ plain, ...wanted }: WantedUsage): Decision<ReservedUsage, UsageReservationEvent> =>
  ({ reserved }) => {
    const limit = decimal(wanted.limit);
    const before = decimal(reserved);
    const after = before.plus(decimal(wanted.quantity));
    if (plain.most.plus(after).lte(limit)) {
      const used = textOf(plain.most.plus(after));
      const counted_up_to = plain.position;
      return [{ type: 'UsageReserved', data: { ...wanted, used, counted_up_to } }];
    }
    if (plain.least.plus(after).lte(limit)) throw new PlainUsageUnclear();
    throw new LimitReached(textOf(plain.least.plus(before)), plain.position);
  };
