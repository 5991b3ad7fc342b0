import {
  type AddonAssociationId,
  type AddonId,
  type Instant,
  invariant,
  type PauseId,
  type PhaseId,
  Problem,
  type ScheduleId,
  type Stamped,
  shiftedBy,
} from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  cancelSubscription,
  createSubscription,
  revertCancellation,
  type SubscriptionDecision,
  takeDue,
} from './decisions.ts';
import type { SubscriptionEvent } from './events.ts';
import { pauseSubscription, resumeSubscription } from './pauses/decisions.ts';
import { type SubscriptionState, subscription } from './subscription.ts';
import { grantOf } from './test-model-order.ts';
import { hour, lineOf, orderOf } from './test-order.ts';

const test = suite('lives of subscriptions');

const id = 'subs_01';

/** Something that a caller does, so many hours after what was done before. */
interface Act {
  readonly after: number;
  readonly kind: (typeof kinds)[number];
  readonly ahead: number;
  readonly proration: 'create_prorations' | 'none';
}

const kinds = [
  'look',
  'cancel',
  'cancel_at_end',
  'cancel_on',
  'revert',
  'pause',
  'pause_for',
  'pause_at_end',
  'pause_on',
  'resume',
] as const;

interface Life {
  readonly order: Parameters<typeof orderOf>[0];
  readonly acts: readonly Act[];
}

const anyAct: fc.Arbitrary<Act> = fc.record({
  after: fc.integer({ min: 0, max: 24 * 70 }),
  kind: fc.constantFrom(...kinds, 'look', 'pause_for', 'resume'),
  ahead: fc.integer({ min: 1, max: 24 * 60 }),
  proration: fc.constantFrom('create_prorations', 'none'),
});

const lines = [
  lineOf(),
  lineOf({ amount: '7.77', invoice_cadence: 'ARREAR' }),
  lineOf({ type: 'USAGE', invoice_cadence: 'ARREAR' }),
  lineOf({ billing_period: 'ANNUAL', amount: '1000' }),
  lineOf({ billing_period: 'QUARTERLY', amount: '99.99', invoice_cadence: 'ARREAR' }),
  lineOf({ billing_period: 'ONETIME', amount: '5' }),
];

const anyGrant = fc.record({
  credits: fc.integer({ min: 1, max: 99 }),
  unit: fc.constantFrom('DAILY' as const, 'WEEKLY' as const, 'MONTHLY' as const, null),
  count: fc.integer({ min: 1, max: 3 }),
  expires: fc.constantFrom('never' as const, 'with the period' as const),
});

const namedGrants = (grants: readonly AnyGrant[], name: string) =>
  grants.map((grant, index) => grantOf({ ...grant, name: `${name} ${index}` }));
type AnyGrant = typeof anyGrant extends fc.Arbitrary<infer Value> ? Value : never;

/** Everything that a subscription has beside its lines: credits, an add-on without a price, and phases that charge the same. */
const anythingBeside = fc.record({
  grants: fc.array(anyGrant, { maxLength: 2 }),
  addon: fc.option(
    fc.record({
      cadence: fc.constantFrom('onetime' as const, 'recurring' as const),
      hours: fc.nat(24 * 40),
      grants: fc.array(anyGrant, { maxLength: 1 }),
    }),
  ),
  phases: fc.array(fc.integer({ min: 1, max: 24 * 50 }), { maxLength: 2 }),
});
type AnyBeside = typeof anythingBeside extends fc.Arbitrary<infer Value> ? Value : never;

/** Most have nothing of it: credits of every day are many steps. */
const anyBeside: fc.Arbitrary<AnyBeside> = fc.oneof(
  { arbitrary: fc.constant<AnyBeside>({ grants: [], addon: null, phases: [] }), weight: 2 },
  { arbitrary: anythingBeside, weight: 1 },
);

/** The same within the hours of a life: phases begin after the trial, and nothing at its end or later. */
function besideOf(
  { grants, addon, phases }: AnyBeside,
  { start, trial, ends }: { start: number; trial: number | null; ends: number | null },
): Parameters<typeof orderOf>[0] {
  const end = ends === null ? null : start + ends;
  const begins = [start];
  for (const hours of phases) {
    const next = Math.max(begins.at(-1) ?? start, start + 24 * ((trial ?? 0) + 1)) + hours;
    if (end === null || next < end) begins.push(next);
  }
  const isWithin = addon !== null && (end === null || start + addon.hours < end);
  return {
    grants: namedGrants(grants, 'plan'),
    phases: begins.slice(0, begins.length > 1 ? undefined : 0).map((from, place) => {
      const to = begins[place + 1] ?? end;
      return {
        id: `phase_${place}` as PhaseId,
        ...{ start_date: hour(from), end_date: to === null ? null : hour(to) },
        ...{ metadata: {}, entitlements: [] },
      };
    }),
    addons: isWithin
      ? [
          {
            id: 'addon_assoc_01' as AddonAssociationId,
            addon_id: 'addon_01' as AddonId,
            ...{
              addon_name: 'More',
              cadence: addon.cadence,
              start_date: hour(start + addon.hours),
            },
            ...{ metadata: {}, entitlements: [], lines: [], pointer: '' },
            grants: namedGrants(addon.grants, 'addon'),
          },
        ]
      : [],
  };
}

const anyLife: fc.Arbitrary<Life> = fc
  .record({
    start: fc.integer({ min: -24 * 200, max: 24 * 20 }),
    ends: fc.option(fc.integer({ min: 1, max: 24 * 400 })),
    anchor: fc.option(fc.integer({ min: -24 * 60, max: 24 * 60 })),
    calendar: fc.boolean(),
    count: fc.integer({ min: 1, max: 3 }),
    trial: fc.option(fc.integer({ min: 1, max: 40 })),
    zone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia'),
    proration: fc.constantFrom('create_prorations' as const, 'none' as const),
    lines: fc.shuffledSubarray(lines, { minLength: 1 }),
    acts: fc.array(anyAct, { maxLength: 8 }),
    beside: anyBeside,
  })
  .map(({ start, ends, anchor, calendar, count, trial, zone, proration, acts, ...rest }) => ({
    acts,
    order: {
      ...besideOf(rest.beside, { start, trial, ends }),
      start_date: hour(start),
      end_date: ends === null ? null : hour(start + ends),
      billing_cycle: calendar ? ('calendar' as const) : ('anniversary' as const),
      billing_anchor: anchor === null || calendar ? null : hour(anchor),
      rhythm: { unit: 'MONTHLY' as const, count },
      trial_days: trial,
      timezone: zone,
      proration_behavior: proration,
      // Lines are of the period of the subscription, or of a multiple.
      lines: rest.lines.map((line) => {
        const { billing_period, billing_period_count } = line.price;
        const own = billing_period === 'MONTHLY' ? count : billing_period_count * count;
        return { ...line, price: { ...line.price, billing_period_count: own } };
      }),
    },
  }));

/** A stream with one subscription, and its clock. */
class Stream {
  readonly events: SubscriptionEvent[] = [];
  state: SubscriptionState = null;

  decide(decision: SubscriptionDecision, at: Instant): readonly SubscriptionEvent[] {
    try {
      const events = decision(this.state, at);
      for (const event of events) {
        const data = subscription.events[event.type].parse(event.data);
        const stamp = { tenant_id: 't', environment_id: 'e', occurred_at: at, actor: {} };
        this.state = subscription.evolve(this.state, {
          ...event,
          data,
          stamp,
        } as unknown as Stamped<SubscriptionEvent>);
        this.events.push({ ...event, data } as SubscriptionEvent);
      }
      return events;
    } catch (error) {
      if (error instanceof Problem) return [];
      throw error;
    }
  }

  /** Takes everything that is due. */
  settle(at: Instant): void {
    while (this.decide(takeDue(id), at).length > 0);
  }
}

function decisionOf({ kind, after, ahead, proration }: Act, now: number): SubscriptionDecision {
  const pause = (pause_mode: 'immediate' | 'period_end' | 'scheduled', end: number | null) =>
    pauseSubscription(id, {
      id: `pause_${now}` as PauseId,
      pause_mode,
      start: pause_mode === 'scheduled' ? hour(now + ahead) : null,
      end: end === null ? null : hour(now + ahead + end),
      days: null,
      bills_usage: false,
      reason: null,
      metadata: {},
      quoted: null,
    });
  const asked = {
    proration_behavior: proration,
    skips_arrears: false,
    reason: null,
    schedule_id: 'sched_01' as ScheduleId,
  };
  switch (kind) {
    case 'look':
      return takeDue(id);
    case 'revert':
      return revertCancellation(id);
    case 'pause':
      return pause('immediate', null);
    case 'pause_for':
      return pause('immediate', after);
    case 'pause_at_end':
      return pause('period_end', after + 24 * 80);
    case 'pause_on':
      return pause('scheduled', after + 1);
    case 'resume':
      return resumeSubscription(id, { resume_mode: 'immediate', at: null });
    case 'cancel':
      return cancelSubscription(id, { ...asked, cancellation_type: 'immediate', cancel_at: null });
    case 'cancel_at_end':
      return cancelSubscription(id, {
        ...asked,
        cancellation_type: 'end_of_period',
        cancel_at: null,
      });
    case 'cancel_on':
      return cancelSubscription(id, {
        ...asked,
        cancellation_type: 'scheduled_date',
        cancel_at: hour(now + ahead),
      });
    default:
      return kind satisfies never;
  }
}

/** Lives a life, looking every so many hours whether something is due; null: only when something is done. */
function live({ order, acts }: Life, every: number | null): Stream {
  const stream = new Stream();
  stream.decide(createSubscription(orderOf(order)), hour(0));
  stream.settle(hour(0));
  let now = 0;
  for (const act of acts) {
    const until = now + act.after;
    if (every !== null) for (let at = now; at < until; at += every) stream.settle(hour(at));
    now = until;
    stream.settle(hour(now));
    stream.decide(decisionOf(act, now), hour(now));
  }
  return stream;
}

const runs = { numRuns: 700 };

test('periods tile the time from the start to the end, each number once', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      let index = 0;
      let reached = life.order?.start_date;
      let open = false;
      for (const { type, data } of live(life, null).events) {
        if (type === 'PeriodOpened') {
          assert.not(open);
          assert.is(data.index, index);
          assert.is(data.start, reached);
          assert.ok(data.start < data.end);
        }
        if (type === 'PeriodClosed') {
          assert.ok(open);
          assert.is(data.index, index);
          reached = data.end;
          index += 1;
        }
        // A pause between two periods moves the beginning of the next one.
        if (type === 'PauseEnded' && data.period === null) {
          const length = Date.parse(data.end) - Date.parse(data.start);
          reached = shiftedBy(reached as Instant, length);
        }
        if (type === 'PeriodOpened' || type === 'PeriodClosed') open = type === 'PeriodOpened';
        if (type === 'SubscriptionCancelled') assert.not(open);
      }
    }),
    runs,
  );
});

test('steps are the same whenever somebody looks', () => {
  const every = fc.integer({ min: 5, max: 24 * 40 });
  fc.assert(
    fc.property(anyLife, every, (life, hours) => {
      assert.equal(live(life, hours).events, live(life, null).events);
    }),
    { numRuns: 200 },
  );
});

test('instants of steps never run backwards', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      let last = '';
      for (const event of live(life, null).events) {
        const at = instantOfStep(event);
        if (at === null) continue;
        assert.ok(at >= last, `${event.type} at ${at} after ${last}`);
        last = at;
      }
    }),
    runs,
  );
});

function instantOfStep(event: SubscriptionEvent): Instant | null {
  switch (event.type) {
    case 'PeriodOpened':
      return event.data.start;
    case 'PeriodClosed':
      return event.data.end;
    // A renewal that is on again, because an end was taken back, is announced late for its instant.
    case 'RenewalNoticed':
      return null;
    case 'TrialEnded':
    case 'SettlementRecorded':
    case 'PhaseBegun':
    case 'AddonBegun':
    case 'AddonEnded':
      return event.data.at;
    case 'CreditsGranted':
    case 'CreditsSkipped':
      return event.data.period_start;
    case 'SubscriptionCancelled':
      return event.data.effective_at;
    case 'PauseStarted':
      return event.data.start;
    case 'PauseEnded':
      return event.data.end;
    default:
      return null;
  }
}

/** The rest of charges, by their lines and starts, after a pause: those that lay ahead begin later. */
const movedBy = (
  { start, end }: { readonly start: Instant; readonly end: Instant },
  charged: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map(
    [...charged].map(([key, rest]) => {
      const [line, from = ''] = key.split(' ');
      const later = shiftedBy(from as Instant, Date.parse(end) - Date.parse(start));
      return [`${line} ${from > start ? later : from}`, rest];
    }),
  );

test('nothing is settled twice, no credit exceeds its charge, and nothing follows the end', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      const seen = new Set<string>();
      let charged: ReadonlyMap<string, number> = new Map();
      let isOver = false;
      for (const event of live(life, null).events) {
        assert.not(isOver, `${event.type} after the end`);
        if (event.type === 'SubscriptionCancelled') isOver = true;
        if (event.type === 'PauseEnded') charged = movedBy(event.data, charged);
        if (event.type !== 'SettlementRecorded') continue;
        assert.not(seen.has(event.data.settlement_id));
        seen.add(event.data.settlement_id);
        for (const line of event.data.lines) {
          if (!('amount' in line)) continue;
          const cents = Math.round(Number(line.amount) * 100);
          const span = line.kind === 'charge' ? line.span : line.whole;
          const key = `${line.line_item_id} ${span.start}`;
          const rest = (charged.get(key) ?? 0) + (line.kind === 'charge' ? cents : -cents);
          assert.ok(rest >= 0, key);
          charged = new Map([...charged, [key, rest]]);
        }
      }
    }),
    runs,
  );
});

test('usage is billed for every instant from the end of the trial to the end, and no instant twice', () => {
  const usage = lineOf({ type: 'USAGE', invoice_cadence: 'ARREAR' });
  fc.assert(
    fc.property(anyLife, (life) => {
      const count = life.order?.rhythm?.count ?? 1;
      const only = { ...usage, price: { ...usage.price, billing_period_count: count } };
      const { events, state } = live({ ...life, order: { ...life.order, lines: [only] } }, null);
      invariant(state, 'the subscription exists');
      let reached = state.trial?.end ?? state.start_date;
      for (const event of events) {
        if (event.type === 'PauseEnded' && event.data.period === null) {
          const { start, end } = event.data;
          reached = shiftedBy(reached, Date.parse(end) - Date.parse(start));
        }
        if (event.type !== 'SettlementRecorded') continue;
        for (const line of event.data.lines) {
          assert.is(line.span.start, reached);
          reached = line.span.end;
          const paused = state.pauses.filter(({ status }) => status === 'completed');
          const within = paused.filter(({ start, end }) => {
            const first = start < line.span.start ? line.span.start : start;
            const last = end === null || end > line.span.end ? line.span.end : end;
            return first < last;
          });
          assert.is(line.kind === 'usage' && line.excluded.length, within.length);
        }
      }
      const trialEnd = state.trial?.end ?? state.start_date;
      if (state.cancelled_at !== null && state.cancelled_at > trialEnd) {
        assert.is(reached, state.cancelled_at);
      }
    }),
    runs,
  );
});

test.run();
