import { type Decision, type Instant, millisecondsOf, nearestInstant } from '@counterfoil/kernel';
import type { PaymentEvent } from './events.ts';
import { attemptUnderWay, type Payment, type PaymentState, refundUnderWay } from './payment.ts';

const minute = 60_000;
/** The time from one question to the next; after the last of them a day each. */
const delays = [1, 5, 15, 60, 360].map((minutes) => minutes * minute);
const day = 1_440 * minute;
/** Questions that are asked by themselves about one attempt or refund. */
const questionsMaximum = 60;

/**
 * The instant at which the provider is asked next what has become of what is under way, because its message may be lost.
 * Null where nothing is, and where it has been asked often enough: from then on only when somebody asks.
 */
export function nextQuestion(payment: Payment): Instant | null {
  const { questions } = payment;
  const isUnderWay =
    attemptUnderWay(payment) !== null || refundUnderWay(payment)?.refund_status === 'PROCESSING';
  if (!isUnderWay || questions === null || questions.times >= questionsMaximum) return null;
  return nearestInstant(millisecondsOf(questions.at) + (delays[questions.times] ?? day));
}

/** The question to the provider, counted. */
export const askedNow = ({ questions }: Payment): PaymentEvent => ({
  type: 'ProviderAsked',
  data: { times: (questions?.times ?? 0) + 1 },
});

/** Asks the provider when the next question is due. Nothing is due, no event. */
export const askWhenDue: Decision<PaymentState, PaymentEvent> = (state, at) => {
  const next = state && nextQuestion(state);
  return state && next !== null && next <= at ? [askedNow(state)] : [];
};
