// Things that fall due at one instant happen in one order, whoever asked for them first and however late they are taken.
import {
  type Instant,
  instantOf,
  type PauseId,
  Problem,
  type ScheduleId,
  type SubscriptionId,
} from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { changePlanTo } from '../change/decisions.ts';
import {
  cancelSubscription,
  createSubscription,
  type SubscriptionDecision,
  takeDue,
} from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import type { GrantData } from '../grants/grant.ts';
import { pauseSubscription } from '../pauses/decisions.ts';
import { foldInto, type SubscriptionState, subscription } from '../subscription.ts';
import { hour, lineOf, orderOf } from '../test-order.ts';
import { stepOrder } from './steps.ts';

const test = suite('the order of steps at one instant');

const id = 'subs_01';
const day = (month: number, date: number): Instant => instantOf(Date.UTC(2026, month - 1, date));
/** The instant at which everything falls due: the end of January, of the trial, and of the subscription's pause. */
const due = day(2, 1);

const grant = {
  source_id: 'cg_01',
  name: 'Credits',
  credits: '5',
  period: 'MONTHLY',
  period_count: 1,
  expiration_type: 'NEVER',
  expiration_duration: null,
  expiration_duration_unit: null,
  priority: null,
  conversion_rate: null,
  topup_conversion_rate: null,
  metadata: {},
} as unknown as Omit<GrantData, 'id' | 'start_date'>;

const target = orderOf({
  id: 'subs_02' as SubscriptionId,
  plan_id: 'plan_02' as never,
  lines: [lineOf({ id: 'price_02' as never, amount: '20' })],
});

const pause = (pause_mode: 'scheduled' | 'period_end', start: Instant | null, end: Instant) =>
  pauseSubscription(id, {
    id: `pause_${end}` as PauseId,
    pause_mode,
    start,
    end,
    days: null,
    bills_usage: false,
    reason: null,
    metadata: {},
    quoted: null,
  });

/** Requests for something at the instant, each of which may refuse another one that was there before. */
const requests: Readonly<Record<string, SubscriptionDecision>> = {
  cancel_at_end: cancelSubscription(id, {
    cancellation_type: 'end_of_period',
    cancel_at: null,
    proration_behavior: 'create_prorations',
    skips_arrears: false,
    reason: null,
    schedule_id: 'sched_01' as ScheduleId,
  }),
  change_at_end: changePlanTo(id, {
    order: target,
    prices_of_plan: new Set(['price_01']),
    proration: 'create_prorations',
    change_at: 'end_of_period',
    schedule_id: 'sched_02' as ScheduleId,
    quoted: null,
  }),
  pause_at_end: pause('period_end', null, day(2, 11)),
};

const kindOf = (event: SubscriptionEvent): (typeof stepOrder)[number] | null => {
  switch (event.type) {
    case 'PauseEnded':
      return event.data.cause === 'due' ? 'resume' : null;
    case 'TrialEnded':
      return 'trial_end';
    case 'PeriodClosed':
      return 'close';
    case 'SubscriptionCancelled':
      return event.data.cause === 'plan_change' ? null : 'cancel';
    case 'PlanChanged':
      return 'change';
    case 'PauseStarted':
      return 'pause';
    case 'PeriodOpened':
      return 'open';
    case 'CreditsGranted':
    case 'CreditsSkipped':
      return 'grant';
    default:
      return null;
  }
};

/** The events of a life in which everything falls due at one instant. */
function lived(order: readonly string[], hasTrial: boolean, isEnding: boolean) {
  let state: SubscriptionState = null;
  const events: SubscriptionEvent[] = [];
  const decide = (decision: SubscriptionDecision, at: Instant): void => {
    let decided: readonly SubscriptionEvent[] = [];
    try {
      decided = decision(state, at);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    for (const event of decided) {
      events.push(event);
      state =
        state === null
          ? subscription.evolve(null, { ...event, stamp: { occurred_at: at, actor: {} } } as never)
          : foldInto(state, event, at);
    }
  };
  const start = hasTrial ? day(1, 22) : day(1, 1);
  const ordered = orderOf({
    start_date: start,
    trial_days: hasTrial ? 10 : null,
    end_date: isEnding ? due : null,
    lines: [lineOf(), lineOf({ type: 'USAGE', invoice_cadence: 'ARREAR' })],
    grants: [grant],
  });
  decide(createSubscription(ordered), start);
  for (const name of order) decide(requests[name] as SubscriptionDecision, day(1, 25));
  const before = events.length;
  decide(takeDue(id), due);
  return { state: state as SubscriptionState, events, at: events.slice(before) };
}

const anyOrder = fc.shuffledSubarray(Object.keys(requests));

test('steps of one instant come in their order, whoever asked first', () => {
  fc.assert(
    fc.property(anyOrder, fc.boolean(), fc.boolean(), (order, hasTrial, isEnding) => {
      const { at } = lived(order, hasTrial, isEnding);
      const places = at.flatMap((event) => {
        const kind = kindOf(event);
        return kind === null ? [] : [stepOrder.indexOf(kind)];
      });
      assert.equal(
        places,
        [...places].sort((left, right) => left - right),
        `${order}`,
      );
      assert.is(new Set(places).size, places.length, 'each once');
    }),
    { numRuns: 300 },
  );
});

test('what ends a subscription keeps everything behind it from happening', () => {
  fc.assert(
    fc.property(anyOrder, fc.boolean(), fc.boolean(), (order, hasTrial, isEnding) => {
      const { at, state } = lived(order, hasTrial, isEnding);
      const over = at.findIndex(({ type }) => type === 'SubscriptionCancelled');
      assert.is(over === -1, state?.subscription_status !== 'cancelled');
      if (over !== -1) assert.is(over, at.length - 1);
    }),
    { numRuns: 300 },
  );
});

test('requests that do not refuse each other lead to the same, in whatever order they come', () => {
  const one = lived(['cancel_at_end', 'pause_at_end'], false, false).at.map(({ type }) => type);
  const other = lived(['pause_at_end', 'cancel_at_end'], false, false).at.map(({ type }) => type);
  assert.equal(one, other);
  assert.is(one.at(-1), 'SubscriptionCancelled');
  const changed = lived(['change_at_end', 'pause_at_end'], false, false).at.map(({ type }) => type);
  assert.equal(changed, [
    'PeriodClosed',
    'SettlementRecorded',
    'PlanChanged',
    'SubscriptionCancelled',
  ]);
});

test('a pause that ends with the period of nothing else lets the rest come at its new instant', () => {
  let state: SubscriptionState = null;
  const types: string[] = [];
  const decide = (decision: SubscriptionDecision, at: Instant): void => {
    for (const event of decision(state, at)) {
      types.push(event.type);
      state =
        state === null
          ? subscription.evolve(null, { ...event, stamp: { occurred_at: at, actor: {} } } as never)
          : foldInto(state, event, at);
    }
  };
  decide(createSubscription(orderOf({ grants: [grant] })), hour(0));
  decide(pause('scheduled', day(1, 11), due), day(1, 2));
  types.length = 0;
  decide(takeDue(id), due);
  // The grant of the instant at which the pause ends is given: a pause is half-open.
  assert.equal(types, ['PauseStarted', 'PauseEnded', 'CreditsGranted']);
});

test.run();
