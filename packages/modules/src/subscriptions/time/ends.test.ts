import type { DecimalText, Instant, ScheduleId, Stamped } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Order } from '../creation/order.ts';
import {
  cancelSubscription,
  createSubscription,
  type SubscriptionDecision,
  takeDue,
} from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { type SubscriptionState, subscription } from '../subscription.ts';
import { hour, lineOf, orderOf } from '../test-order.ts';

const test = suite('what an end breaks off');

const february = hour(31 * 24);

/** A line of a quarter in arrears, and usage that 60 a quarter is committed to. */
const lines = [
  lineOf({ billing_period: 'QUARTERLY', amount: '90', invoice_cadence: 'ARREAR' }),
  lineOf(
    { type: 'USAGE', invoice_cadence: 'ARREAR' },
    {
      commitment: {
        committed: { kind: 'amount', amount: '60' as DecimalText },
        ...{ windowed: false, overage_factor: '1' as DecimalText, true_up: true, time_buckets: [] },
        duration: 'QUARTERLY',
      },
    },
  ),
];

const cancelled = (cancellation_type: 'end_of_period' | 'scheduled_date') =>
  cancelSubscription('subs_01', {
    cancellation_type,
    cancel_at: cancellation_type === 'scheduled_date' ? february : null,
    proration_behavior: 'create_prorations',
    skips_arrears: false,
    reason: null,
    schedule_id: 'sched_01' as ScheduleId,
  });

/** Everything that is settled of a subscription that ends with January. */
function settledBy(order: Partial<Order>, request: SubscriptionDecision | null): string[] {
  let state = null as SubscriptionState;
  const settled: string[] = [];
  const decide = (decision: SubscriptionDecision, at: Instant): void => {
    for (const event of decision(state, at)) {
      const stamp = { occurred_at: at, actor: {} };
      state = subscription.evolve(state, {
        ...event,
        stamp,
      } as unknown as Stamped<SubscriptionEvent>);
      if (event.type !== 'SettlementRecorded') continue;
      for (const line of event.data.lines) {
        if (line.kind === 'usage') continue;
        settled.push(`${line.kind} ${line.kind === 'commitment' ? line.committed : line.amount}`);
      }
    }
  };
  decide(createSubscription(orderOf({ lines, ...order })), hour(0));
  if (request !== null) decide(request, hour(1));
  decide(takeDue('subs_01'), hour(40 * 24));
  assert.is(state?.cancelled_at, february);
  return settled;
}

const ends: [string, Partial<Order>, SubscriptionDecision | null][] = [
  ['a cancellation at the end of the period', {}, cancelled('end_of_period')],
  ['a cancellation on the day on which it ends', {}, cancelled('scheduled_date')],
  ['an end that is known from the start', { end_date: february }, null],
];

for (const [name, order, request] of ends) {
  test(`a quarter that ${name} breaks off is billed once, and so is what it is committed to`, () => {
    assert.equal(settledBy(order, request), ['charge 31', 'commitment 20.67']);
  });
  test(`a quarter of all usage that ${name} breaks off is trued up once`, () => {
    const commitment = {
      ...{ amount: '60' as DecimalText, overage_factor: '1' as DecimalText },
      ...{ true_up: true, duration: 'QUARTERLY' as const },
    };
    const usage = [lineOf({ type: 'USAGE', invoice_cadence: 'ARREAR' })];
    assert.equal(settledBy({ ...order, commitment, lines: usage }, request), ['commitment 20.67']);
  });
}

test.run();
