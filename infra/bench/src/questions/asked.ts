import type { Question, QuestionPlan } from './plan.ts';
import { type StoredPart, type StoredUsage, storedModel, storedSum } from './stored-usage.ts';

/** Questions of one kind, each with the figure that its answer must have. */
export type Asked = Pick<QuestionPlan, 'name' | 'path' | 'member' | 'questions'>;

/** The figure of an answer. */
const member = ['total_value'];

const dayMilliseconds = 86_400_000;

/** Begins and ends within an hour, so that both edges are counted from events. */
const untidyMilliseconds = 1_234_567;

function monthOf({ from, days }: StoredUsage): { readonly start: Date; readonly end: Date } {
  return {
    start: new Date(from.getTime() + untidyMilliseconds),
    end: new Date(from.getTime() + days * dayMilliseconds - untidyMilliseconds),
  };
}

const question = (stored: StoredUsage, part: StoredPart, body: object): Question => ({
  body: JSON.stringify({
    ...body,
    external_customer_id: stored.externalIds[part.customer],
    start_time: part.start,
    end_time: part.end,
  }),
  expected: String(storedSum(stored, part)),
});

/** A month of the customer who has a tenth of all events, by a meter. */
export const monthOfOne = (stored: StoredUsage, meter_id: string): Asked => ({
  name: 'a month of a customer with a tenth of the events',
  path: '/v1/events/usage/meter',
  member,
  questions: [question(stored, { customer: 0, ...monthOf(stored) }, { meter_id })],
});

/** A month of some customers, by a property that nothing is kept of and no index knows. */
export const monthByProperty = (stored: StoredUsage, customers: readonly number[]): Asked => ({
  name: customers.includes(0)
    ? 'a month by a property of a customer with a tenth of the events'
    : 'a month by a property of usual customers',
  path: '/v1/events/usage',
  member,
  questions: customers.map((customer) => {
    const model = storedModel(1);
    const body = {
      event_name: stored.eventName,
      aggregation_type: 'SUM',
      property_name: 'count',
      filters: { model: [model] },
    };
    return question(stored, { customer, model, ...monthOf(stored) }, body);
  }),
});

/** A month of the customer who has a tenth of all events, in groups by a property. */
export const monthInGroups = (stored: StoredUsage, meter_id: string): Asked => ({
  name: 'a month in groups by a property of a customer with a tenth of the events',
  path: '/v1/events/analytics',
  // Groups come in the order of their names.
  member: ['items', 0, 'total_usage'],
  questions: [
    question(
      stored,
      { customer: 0, model: storedModel(0), ...monthOf(stored) },
      { meter_ids: [meter_id], group_by: ['properties.model'] },
    ),
  ],
});

const askedCustomers = 20;

/** The usage so far of some customers, the greatest among them. */
export const soFarOfSome = (stored: StoredUsage, meter_id: string): Asked => ({
  name: 'usage so far',
  path: '/v1/usage/current',
  member,
  questions: stored.externalIds
    .slice(0, askedCustomers)
    .map((_, customer) => question(stored, { customer }, { meter_id, reset_period: 'NEVER' })),
});
