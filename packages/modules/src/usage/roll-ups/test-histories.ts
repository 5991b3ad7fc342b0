import type { RecordChange, RecordedFacts } from '@counterfoil/engine/define';
import { type Instant, instantOf, millisecondsOf, type WindowSize } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as fc from 'fast-check';
import { type Aggregation, aggregationSchema } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';
import {
  type KeptDefinition,
  keepGrouping,
  leaveGroupingOut,
  type UsageGroupingState,
  usageGrouping,
} from '../groupings/usage-grouping.ts';
import type { UsageEvent } from '../usage-event.ts';
import type { UsageQuestion } from '../usage-question.ts';

export type LogItem = RecordedFacts<UsageEvent> | RecordChange;

export const environmentId = 'env_1';
const names = ['calls', 'seats'];
const externals = ['acme', 'globex', 'initech'];

/** Around the hours in which clocks of some zones change, at the end of a month, and long before. */
const beginnings = [
  '2026-10-24T20:00:00.000Z',
  '2026-10-03T12:00:00.000Z',
  '2026-10-31T17:00:00.000Z',
  '2019-03-30T21:00:00.000Z',
].map((text) => millisecondsOf(text as Instant));

/** Instants that lie close together, many of them on the boundaries of hours and quarters. */
export const instants: fc.Arbitrary<Instant> = fc
  .tuple(
    fc.constantFrom(...beginnings),
    fc.nat({ max: 60 }),
    fc.constantFrom(0, 0, 1, 123_456, 899_999),
  )
  .map(([from, quarters, rest]) => instantOf(from + quarters * 900_000 + rest));

const values = fc.oneof(
  fc.integer({ min: -5, max: 50 }),
  fc.constantFrom<unknown>(0.1, 0.2, '0.3', '12345678901234567890.5', 1e-7, 'many', null, true),
);

const properties = fc.record(
  {
    v: values,
    w: fc.constantFrom<unknown>(1, 2, '3', 'x', { a: 1 }, 'a\tb'),
    g: fc.constantFrom('north', 'south', 7),
    model: fc.constantFrom('large', 'small'),
  },
  { requiredKeys: [] },
);

/** Of few ids, so that some are repeated and some contradict each other. */
const usage: fc.Arbitrary<UsageEvent> = fc
  .record({
    event_id: fc.nat({ max: 400 }).map((id) => `event-${id}`),
    event_name: fc.constantFrom(...names),
    external_customer_id: fc.constantFrom(...externals),
    timestamp: instants,
    properties: fc.option(properties, { nil: undefined }),
    source: fc.constantFrom(undefined, 'web', 'app'),
  })
  .map(({ properties: given, source, ...event }) => ({
    ...event,
    ...(given ? { properties: given } : {}),
    ...(source ? { source } : {}),
  }));

export const aggregations: fc.Arbitrary<Aggregation> = fc
  .constantFrom<object>(
    { type: 'COUNT' },
    { type: 'SUM', field: 'v' },
    { type: 'SUM', field: 'v', bucket_size: 'DAY' },
    { type: 'SUM', expression: 'v * v / 3 + w' },
    { type: 'AVG', field: 'v' },
    { type: 'SUM_WITH_MULTIPLIER', field: 'v', multiplier: '1.5' },
    { type: 'MAX', field: 'v' },
    { type: 'LATEST', field: 'v' },
    { type: 'COUNT_UNIQUE', field: 'w' },
    { type: 'WEIGHTED_SUM', field: 'v' },
    ...['MINUTE', '15MIN', '30MIN', 'HOUR', '3HOUR', 'DAY', 'WEEK'].flatMap((bucket_size) => [
      { type: 'MAX', field: 'v', bucket_size },
      { type: 'MAX', field: 'v', bucket_size, group_by: 'g' },
    ]),
  )
  .map((given) => aggregationSchema.parse(given));

export const filters: fc.Arbitrary<PropertyFilters> = fc.constantFrom(
  [],
  [],
  [{ key: 'model', values: ['large'] }],
  [
    { key: 'g', values: ['7', 'north'] },
    { key: 'model', values: ['small', 'large'] },
  ],
);

type Step =
  | { readonly kind: 'usage'; readonly events: readonly UsageEvent[] }
  | { readonly kind: 'customer'; readonly id: number; readonly external: string | null }
  | { readonly kind: 'meter'; readonly id: number; readonly change: MeterChange }
  /** Voids one of the events that have come. */
  | { readonly kind: 'void'; readonly which: number }
  | GroupingStep
  | BackfillStep
  /** Sends events to a backfill, or live, some of them as they were sent before. */
  | {
      readonly kind: 'fill';
      readonly backfill: string | null;
      readonly events: readonly UsageEvent[];
      readonly echoes: readonly number[];
    };

/** Sums by a property that are kept from here on, or no more. */
interface GroupingStep {
  readonly kind: 'grouping';
  readonly type: 'UsageGroupingKept' | 'UsageGroupingLeftOut';
  readonly data: KeptDefinition;
}

/** A step in the life of a backfill, where it can go through it. */
interface BackfillStep {
  readonly kind: 'backfill';
  readonly id: string;
  readonly type: 'BackfillOpened' | 'BackfillClosed' | 'BackfillReverted';
}

type MeterChange =
  | {
      readonly event_name: string;
      readonly aggregation: Aggregation;
      readonly filters: PropertyFilters;
    }
  | { readonly filters: PropertyFilters }
  | 'deleted';

const groupings: fc.Arbitrary<GroupingStep> = fc.record({
  kind: fc.constant('grouping' as const),
  type: fc.constantFrom<GroupingStep['type'][]>(
    ...Array.from({ length: 5 }, () => 'UsageGroupingKept' as const),
    'UsageGroupingLeftOut',
  ),
  data: fc
    .record({
      event_name: fc.constantFrom(...names),
      measured: fc.constantFrom(
        { field: null, expression: null },
        { field: 'v', expression: null },
        { field: null, expression: 'v * v / 3 + w' },
      ),
      filters: fc.constantFrom([], [], [], [{ key: 'g', values: ['7', 'north'] }]),
      group_by: fc.constantFrom('model', 'model', 'model', 'g', 'w', 'v'),
    })
    .map(({ measured, ...data }) => ({ ...data, ...measured })),
});

const backfills = ['backfill_1', 'backfill_2', 'backfill_3'] as const;

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(usage, { minLength: 1, maxLength: 25 })
      .map((events) => ({ kind: 'usage' as const, events })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('customer' as const),
      id: fc.nat({ max: 3 }),
      external: fc.option(fc.constantFrom(...externals), { freq: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('void' as const), which: fc.nat({ max: 400 }) }),
  },
  { weight: 4, arbitrary: groupings },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fill' as const),
      backfill: fc.constantFrom(...backfills, ...backfills, null),
      events: fc.array(usage, { maxLength: 12 }),
      echoes: fc.array(fc.nat({ max: 1_000 }), { maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('backfill' as const),
      id: fc.constantFrom(...backfills),
      type: fc.constantFrom<BackfillStep['type'][]>(
        'BackfillOpened',
        'BackfillClosed',
        'BackfillClosed',
        'BackfillReverted',
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('meter' as const),
      id: fc.nat({ max: 11 }),
      change: fc.oneof<fc.Arbitrary<MeterChange>[]>(
        fc.record({ event_name: fc.constantFrom(...names), aggregation: aggregations, filters }),
        fc.record({ event_name: fc.constantFrom(...names), aggregation: aggregations, filters }),
        fc.record({ filters }),
        fc.constant('deleted' as const),
      ),
    }),
  },
);

/** A log of usage, customers and meters, in its order. What a record cannot go through is left out. */
export const histories: fc.Arbitrary<readonly LogItem[]> = fc
  .array(steps, { minLength: 8, maxLength: 40 })
  .map(logOf);

const place = { tenantId: 'tenant_1', environmentId };

function logOf(all: readonly Step[]): readonly LogItem[] {
  const holders = new Map<string, number>();
  const customers = new Set<number>();
  const meters = new Map<number, 'there' | 'deleted'>();
  const changeOf = (step: Step): readonly { readonly type: string; readonly data: object }[] => {
    if (step.kind === 'customer') {
      const { id, external } = step;
      const held = [...holders].find(([, holder]) => holder === id)?.[0];
      if (external !== null && holders.has(external)) return [];
      if (held !== undefined) holders.delete(held);
      const isNew = !customers.has(id);
      if (external === null) {
        if (held === undefined) return [];
        return [{ type: 'CustomerArchived', data: {} }];
      }
      if (!isNew && held === undefined) return [];
      customers.add(id);
      holders.set(external, id);
      const data = isNew ? { external_id: external } : { changes: { external_id: external } };
      return [{ type: isNew ? 'CustomerCreated' : 'CustomerUpdated', data }];
    }
    if (step.kind !== 'meter') return [];
    const { id, change } = step;
    const state = meters.get(id);
    if (change === 'deleted') {
      if (state !== 'there') return [];
      meters.set(id, 'deleted');
      return [{ type: 'MeterDeleted', data: {} }];
    }
    if ('event_name' in change) {
      if (state !== undefined) return [];
      meters.set(id, 'there');
      return [{ type: 'MeterCreated', data: change }];
    }
    return state === 'there' ? [{ type: 'MeterFiltersReplaced', data: change }] : [];
  };
  const { voidOf, sentBy, backfillOf } = usageLog();
  const groupingOf = groupingLog();
  return all.flatMap((step, index): LogItem[] => {
    const position = String((index + 1) * 10);
    switch (step.kind) {
      case 'void':
        return voidOf(step, position);
      case 'backfill':
        return backfillOf(step, position);
      case 'grouping':
        return groupingOf(step, position);
      case 'usage':
      case 'fill': {
        const facts = sentBy(step);
        return [{ kind: 'facts', ...place, position, recordedAt, facts } as LogItem];
      }
      default: {
        const ids = { aggregate: step.kind, aggregate_id: `${step.kind}_${step.id}`, position };
        return changeOf(step).map((event) => recordOf({ ...event, ...ids }));
      }
    }
  });
}

const recordedAt = '2026-11-01T00:00:00.000Z';
const stamp = { occurred_at: recordedAt };
/** The data of the events of one type that a log holds, in its order. */
export const recordedIn = <Data extends object>(log: readonly LogItem[], type: string): Data[] =>
  log.flatMap((item) => {
    const event = item.kind === 'record' ? (item.event as { type: string; data: object }) : null;
    return event?.type === type ? [event.data as Data] : [];
  });

const recordOf = (event: object): LogItem =>
  ({ kind: 'record', ...place, event }) as unknown as LogItem;

/** The part of a log that says what is kept for questions, as it is decided. */
function groupingLog() {
  const states = new Map<string, UsageGroupingState>();
  return ({ type, data }: GroupingStep, position: string): LogItem[] => {
    const state = states.get(data.event_name) ?? usageGrouping.initial;
    const decide = type === 'UsageGroupingKept' ? keepGrouping(data) : leaveGroupingOut(data);
    const events = decide(state, recordedAt as Instant);
    const next = events.reduce<UsageGroupingState>(
      (before, event) => usageGrouping.evolve(before, { ...event, stamp } as never),
      state,
    );
    states.set(data.event_name, next);
    const ids = { aggregate: 'usage_grouping', aggregate_id: data.event_name, position };
    return events.map((event) => recordOf({ ...event, stamp, ...ids }));
  };
}

/** The part of a log that is usage: what can be sent, voided, opened and ended, in its order. */
function usageLog() {
  const countable = new Set<string>();
  const voided = new Set<string>();
  const waiting = new Map<string, Set<string>>();
  const ended = new Set<string>();
  const sent: UsageEvent[] = [];
  const noteCountable = (ids: Iterable<string>): void => {
    for (const id of ids) if (!voided.has(id)) countable.add(id);
  };
  return {
    sentBy(step: Extract<Step, { kind: 'usage' | 'fill' }>): readonly UsageEvent[] {
      const echoes = step.kind === 'fill' ? step.echoes : [];
      const again = echoes.flatMap((echo) => sent[echo % sent.length] ?? []);
      const events = [...step.events, ...again];
      sent.push(...step.events);
      const ids = events.map(({ event_id }) => event_id);
      const backfill = step.kind === 'fill' ? step.backfill : null;
      const isKnown = backfill !== null && (waiting.has(backfill) || ended.has(backfill));
      if (backfill === null || !isKnown) {
        noteCountable(ids);
        return events;
      }
      for (const id of ids) waiting.get(backfill)?.add(id);
      return events.map((event) => ({ ...event, backfill_id: backfill }));
    },
    voidOf({ which }: { readonly which: number }, position: string): LogItem[] {
      const ids = [...countable];
      const event_id = ids[which % ids.length];
      if (event_id === undefined) return [];
      countable.delete(event_id);
      voided.add(event_id);
      const data = { event_id, reason: null };
      const own = { type: 'UsageVoided', data, stamp, position };
      return [recordOf({ ...own, aggregate: 'usage_void', aggregate_id: event_id })];
    },
    backfillOf({ id, type }: BackfillStep, position: string): LogItem[] {
      const own = waiting.get(id);
      const isNew = own === undefined && !ended.has(id);
      if (type === 'BackfillOpened' ? !isNew : own === undefined) return [];
      if (type === 'BackfillOpened') {
        waiting.set(id, new Set());
      } else {
        if (type === 'BackfillClosed') noteCountable(own ?? []);
        waiting.delete(id);
        ended.add(id);
      }
      const data = type === 'BackfillOpened' ? backfillTerms : {};
      const ids = { aggregate: 'usage_backfill', aggregate_id: id, position };
      return [recordOf({ type, data, stamp, ...ids })];
    },
  };
}

/** Terms that any event fits: which events may come is decided before they are in the log. */
const backfillTerms = {
  source: 'history',
  start_time: '2000-01-01T00:00:00.000Z',
  end_time: '2030-01-01T00:00:00.000Z',
  description: null,
};

const zones = [
  ...['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu'],
  ...['Australia/Lord_Howe', 'America/St_Johns'],
];

const spans = fc
  .tuple(
    instants,
    fc.constantFrom(1, ...[0.25, 5, 9, 26, 100, 960].map((hours) => hours * 3_600_000)),
  )
  .map(([start, length]) => ({ start, end: instantOf(millisecondsOf(start) + length) }));

const rhythms = fc.oneof(
  fc.constant(null),
  fc.record({
    size: fc.constantFrom<WindowSize[]>(
      '15MIN',
      'HOUR',
      'HOUR',
      '3HOUR',
      '12HOUR',
      'DAY',
      'WEEK',
      'MONTH',
    ),
    zone: fc.constantFrom(...zones),
    anchor: fc.option(instants, { nil: undefined }),
  }),
);

export const customersAsked: fc.Arbitrary<UsageQuestion['of']['customer']> = fc.oneof(
  fc.constant({ kind: 'all' as const }),
  fc.nat({ max: 3 }).map((id) => ({ kind: 'customer' as const, id: `customer_${id}` })),
  fc
    .uniqueArray(fc.nat({ max: 3 }), { minLength: 1 })
    .map((ids) => ({ kind: 'customers' as const, ids: ids.map((id) => `customer_${id}`) })),
  fc.constantFrom(...externals).map((id) => ({ kind: 'external' as const, id })),
);

/** A question of its own, or one that a meter of the log may be asked. */
export const questions: fc.Arbitrary<UsageQuestion> = fc
  .record({
    eventName: fc.constantFrom(...names),
    customer: customersAsked,
    aggregation: aggregations,
    filters,
    span: spans,
    zone: fc.constantFrom(...zones),
    windows: rhythms,
    fills: fc.boolean(),
  })
  .map(({ eventName, customer, ...question }) => ({ ...question, of: { eventName, customer } }));
