import { projection, type RecordedEvent, recordProjection } from '@counterfoil/engine/define';
import {
  createdStamps,
  invariant,
  lastInstant,
  type RecordStamps,
  updatedStamps,
} from '@counterfoil/kernel';
import { lineChangeOf, type SubscriptionEvent } from './events.ts';
import { changedIds, changeOf } from './lines/changed.ts';
import type { LineData } from './lines/line.ts';
import type { LineItem, SettlementRecord } from './schema.ts';
import { subscription } from './subscription.ts';
import { nextStep } from './time/steps.ts';
import { lineItemView, linesView, subscriptionView } from './view.ts';

/** One row per subscription. */
export const subscriptionTable = recordProjection(subscription, {
  name: 'subscriptions',
  version: 6,
  view: subscriptionView,
  columns: {
    customer_id: { type: 'text', of: (shown) => shown.customer_id, index: true },
    invoicing_customer_id: {
      type: 'text',
      of: (shown) => shown.invoicing_customer_id,
      index: true,
    },
    parent_subscription_id: {
      type: 'text',
      of: (shown) => shown.parent_subscription_id,
      index: true,
    },
    plan_id: { type: 'text', of: (shown) => shown.plan_id, index: true },
    lookup_key: { type: 'text', of: (shown) => shown.lookup_key, index: true },
    subscription_status: { type: 'text', of: (shown) => shown.subscription_status },
    subscription_type: { type: 'text', of: (shown) => shown.subscription_type },
    currency: { type: 'text', of: (shown) => shown.currency },
    billing_period: { type: 'text', of: (shown) => shown.billing_period },
    billing_cadence: { type: 'text', of: (shown) => shown.billing_cadence },
    start_date: { type: 'timestamptz', of: (shown) => shown.start_date },
    end_date: { type: 'timestamptz', of: (shown) => shown.end_date ?? lastInstant },
    trial_end: { type: 'timestamptz', of: (shown) => shown.trial_end },
    current_period_start: { type: 'timestamptz', of: (shown) => shown.current_period_start },
    current_period_end: { type: 'timestamptz', of: (shown) => shown.current_period_end },
    due_at: {
      type: 'timestamptz',
      of: (_shown, state) => nextStep(state)?.at ?? null,
      index: true,
    },
  },
});

/** A line that ever was, with what its row shows of its subscription. */
interface LineRow {
  readonly line: LineData;
  readonly subscription_id: string;
  readonly customer_id: string;
  readonly stamps: RecordStamps;
}

type LineChange = RecordedEvent<SubscriptionEvent>;

/** The lines that an event is about. */
function touchedLines(event: LineChange): readonly string[] {
  switch (event.type) {
    case 'SubscriptionCreated':
    case 'SubscriptionActivated':
    case 'TrialMoved':
    case 'PauseEnded':
      return event.data.lines.map(({ id }) => id);
    case 'SubscriptionCancelled':
      return event.data.lines;
    default: {
      const change = lineChangeOf(event);
      return change === null ? [] : changedIds(change);
    }
  }
}

/** The row of a line after an event that touches it. */
function lineAfter(row: LineRow | null, event: LineChange, key: string): LineRow | null {
  const { stamp } = event;
  if (event.type === 'SubscriptionCreated') {
    const { id: subscription_id, customer_id, lines } = event.data;
    const line = lines.find(({ id }) => id === key);
    return line ? { line, subscription_id, customer_id, stamps: createdStamps(stamp) } : null;
  }
  const change = lineChangeOf(event);
  if (change !== null) {
    const { customer_id, begun } = change;
    const line = begun.find(({ id }) => id === key);
    const stamps = createdStamps(stamp);
    if (line) return { line, subscription_id: event.aggregate_id, customer_id, stamps };
  }
  invariant(row, `the line ${key} is changed before it exists`);
  const stamps = { ...row.stamps, ...updatedStamps(stamp) };
  if (change !== null) return { ...row, stamps, line: { ...row.line, ...changeOf(change, key) } };
  switch (event.type) {
    case 'PauseEnded': {
      const moved = event.data.lines.find(({ id }) => id === key);
      if (!moved) return row;
      const { charged: _, ...dates } = moved;
      return { ...row, stamps, line: { ...row.line, ...dates } };
    }
    case 'TrialMoved':
    case 'SubscriptionActivated': {
      const dates = event.data.lines.find(({ id }) => id === key);
      return { ...row, stamps, line: { ...row.line, ...dates } };
    }
    case 'SubscriptionCancelled':
      return { ...row, stamps, line: { ...row.line, end_date: event.data.effective_at } };
    default:
      return row;
  }
}

/** One row per line that a subscription has or had. */
export const lineItemTable = projection(subscription, {
  name: 'subscription_line_items',
  version: 3,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    customer_id: { type: 'text', of: (shown) => shown.customer_id, index: true },
    entity_type: { type: 'text', of: (shown) => shown.entity_type },
    entity_id: { type: 'text', of: (shown) => shown.entity_id },
    addon_association_id: { type: 'text', of: (shown) => shown.addon_association_id },
    price_id: { type: 'text', of: (shown) => shown.price_id },
    meter_id: { type: 'text', of: (shown) => shown.meter_id },
    currency: { type: 'text', of: (shown) => shown.currency },
    billing_period: { type: 'text', of: (shown) => shown.billing_period },
    start_date: { type: 'timestamptz', of: (shown) => shown.start_date },
    end_date: { type: 'timestamptz', of: (shown) => shown.end_date ?? lastInstant },
  },
  keys: touchedLines,
  fold: lineAfter,
  view: ({ subscription_id: id, customer_id, stamps, line }: LineRow): LineItem =>
    lineItemView({ id, customer_id } as Parameters<typeof lineItemView>[0], stamps, line),
});

/** One row per settlement. */
export const settlementTable = projection(subscription, {
  name: 'settlements',
  version: 1,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    reason: { type: 'text', of: (shown) => shown.reason },
    at: { type: 'timestamptz', of: (shown) => shown.at },
  },
  keys: (event) => (event.type === 'SettlementRecorded' ? [event.data.settlement_id] : []),
  adds: (event) => (event.type === 'SettlementRecorded' ? [event.data.settlement_id] : []),
  fold: (row: SettlementRecord | null, event): SettlementRecord | null => {
    if (event.type !== 'SettlementRecorded') return row;
    const { settlement_id: id, lines, ...settlement } = event.data;
    return {
      id,
      ...createdStamps(event.stamp),
      status: 'published',
      subscription_id: event.aggregate_id,
      ...settlement,
      lines: linesView(lines),
    };
  },
  view: (row: SettlementRecord) => row,
  rests: () => true,
});
