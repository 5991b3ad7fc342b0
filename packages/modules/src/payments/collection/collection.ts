import {
  aggregate,
  type CustomerId,
  createdStamps,
  type DecimalText,
  type EventOf,
  type Instant,
  instantSchema,
  type PaymentId,
  type RecordStamps,
  type Stamped,
  updatedStamps,
  type WalletId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { paymentMethodSchema } from '../../invoices/index.ts';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);
const figure = text<DecimalText>();

const collectionEvents = {
  /** The rest that is owed is to be collected now. One round is begun after the other. */
  RoundDue: z.object({
    round: z.number().int(),
    cause: z.enum(['finalization', 'request', 'retry']),
  }),
  /** The payments that are to be made: recorded before any of the payments is made. */
  RoundPlanned: z.object({
    round: z.number().int(),
    customer_id: text<CustomerId>(),
    payments: z.array(
      z.object({
        payment_id: text<PaymentId>(),
        method: paymentMethodSchema,
        wallet_id: text<WalletId>().nullable(),
        payment_method_id: z.string().nullable(),
        amount: figure,
      }),
    ),
  }),
  /** A payment of the round has come, or not. */
  PaymentEnded: z.object({
    round: z.number().int(),
    payment_id: text<PaymentId>(),
    is_paid: z.boolean(),
  }),
  /** All of them have ended. `next_at` is when it is tried again; null: not by itself. */
  RoundEnded: z.object({ round: z.number().int(), next_at: instantSchema.nullable() }),
  /** Nothing is owed any more: it is not tried again. */
  CollectionStopped: z.object({}),
} as const;

export type CollectionEvent = EventOf<typeof collectionEvents>;
export type CollectionEventData<Type extends CollectionEvent['type']> = Extract<
  CollectionEvent,
  { readonly type: Type }
>['data'];
export type PlannedPayment = CollectionEventData<'RoundPlanned'>['payments'][number];

/** The collection of what one invoice is owed. */
export interface Collection extends RecordStamps {
  /** The rounds so far; the last is open until its payments have ended. */
  readonly round: number;
  /** Rounds that a finalisation or the schedule has begun: those of requests do not count for it. */
  readonly scheduled: number;
  readonly isOpen: boolean;
  /** The payments of the open round that have not ended; null before it is planned. */
  readonly waiting: readonly PlannedPayment[] | null;
  readonly next_at: Instant | null;
}
/** Null before anything was to be collected. */
export type CollectionState = Collection | null;

/** The rounds that count for the schedule, once one more has begun. */
export const scheduledAfter = (
  state: Pick<Collection, 'scheduled'> | null,
  cause: CollectionEventData<'RoundDue'>['cause'],
): number => (state?.scheduled ?? 0) + (cause === 'request' ? 0 : 1);

function evolve(state: CollectionState, event: Stamped<CollectionEvent>): CollectionState {
  const { stamp } = event;
  const blank = { round: 0, scheduled: 0, isOpen: false, waiting: null, next_at: null };
  const before = state ?? { ...createdStamps(stamp), ...blank };
  const stamped: Collection = { ...before, ...updatedStamps(stamp) };
  switch (event.type) {
    case 'RoundDue': {
      const { round, cause } = event.data;
      const scheduled = scheduledAfter(stamped, cause);
      return { ...stamped, round, scheduled, isOpen: true, waiting: null, next_at: null };
    }
    case 'RoundPlanned':
      return { ...stamped, waiting: event.data.payments };
    case 'PaymentEnded': {
      const { payment_id } = event.data;
      const waiting = (stamped.waiting ?? []).filter((each) => each.payment_id !== payment_id);
      return { ...stamped, waiting };
    }
    case 'RoundEnded':
      return { ...stamped, isOpen: false, waiting: null, next_at: event.data.next_at };
    case 'CollectionStopped':
      return { ...stamped, next_at: null };
    default:
      return event satisfies never;
  }
}

/** The collection of what invoices are owed, one stream for each invoice, under its id (E 16). */
export const collection = aggregate({
  name: 'collection',
  scope: 'environment',
  events: collectionEvents,
  initial: null as CollectionState,
  evolve,
});
