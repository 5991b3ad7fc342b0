import { type Decision, Problem } from '@counterfoil/kernel';
import {
  type CustomerDebitEvent,
  type CustomerDebits,
  type DebitCompletion,
  type DebitRefusal,
  type DebitRequest,
  isWaiting,
} from './customer-debits.ts';

type DebitDecision = Decision<CustomerDebits, CustomerDebitEvent>;

/** Debits of one customer and currency that may wait at a time: they are carried out one after the other. */
const waitingMaximum = 100;

/** Puts a debit behind those that are not at their end. Refuses it for now when too many wait. */
export const requestDebit =
  (data: DebitRequest): DebitDecision =>
  ({ waiting }) => {
    if (waiting.length < waitingMaximum) return [{ type: 'DebitRequested', data }];
    throw new Problem(
      'service_unavailable',
      `The customer has ${waitingMaximum} debits in ${data.currency} under way. Send it again.`,
      { retryAfterSeconds: 1 },
    );
  };

/** Ends a debit that was taken whole. Nothing when it has ended. */
export const completeDebit =
  (data: DebitCompletion): DebitDecision =>
  (state) =>
    isWaiting(state, data.debit_id) ? [{ type: 'DebitCompleted', data }] : [];

/** Ends a debit of which nothing was taken. Nothing when it has ended. */
export const refuseDebit =
  (data: DebitRefusal): DebitDecision =>
  (state) =>
    isWaiting(state, data.debit_id) ? [{ type: 'DebitRefused', data }] : [];
