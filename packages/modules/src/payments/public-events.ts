import {
  type Change,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import type { PaymentEvent } from './events.ts';
import { type PaymentState, payment } from './payment.ts';
import { paymentSchema } from './schema.ts';
import { paymentView } from './view.ts';

/** The message of each type of event: what comes after `payment.`; null where an event has none (E 22.3). */
function messageOf(event: PaymentEvent): string | null {
  switch (event.type) {
    case 'PaymentCreated':
      return 'created';
    case 'PaymentStarted':
      return 'pending';
    case 'PaymentSucceeded':
      return 'success';
    case 'PaymentFailed':
      return 'failed';
    case 'PaymentChanged':
    case 'PaymentAttemptPrepared':
    case 'RefundStarted':
    case 'RefundSucceeded':
    case 'RefundFailed':
    case 'PaymentReturned':
    case 'PaymentDeleted':
      return 'updated';
    case 'PaymentAttemptStarted':
    case 'PaymentCancelled':
    case 'ProviderAsked':
    case 'RefundCommitted':
    case 'PaymentApplied':
    case 'ReturnAsked':
    case 'ReturnRefused':
    case 'WalletChosen':
      return null;
    default:
      return event satisfies never;
  }
}

/** The message of an event, with the payment as it is from then on. */
function paymentMessages({
  event,
  after,
}: Change<PaymentState, PaymentEvent>): readonly PublicEvent[] {
  const message = messageOf(event);
  if (!after || message === null) return [];
  const body = { payment: paymentView(after) };
  return [{ type: `payment.${message}`, resourceId: after.id, body }];
}

const body = z.object({ payment: paymentSchema });

const types: PublicEventTypes = {
  'payment.created': { summary: 'A payment is written down', body },
  'payment.updated': { summary: 'A payment is changed, given back or deleted', body },
  'payment.pending': { summary: 'A payment is on its way', body },
  'payment.success': { summary: 'The money of a payment has come', body },
  'payment.failed': { summary: 'No money comes by a payment', body },
};

/** The public events of payments. */
export const paymentPublicEvents = publicEvents(payment, paymentMessages, types);
