/** Aggregates, read tables and a writer of events for the tests of this folder. */
import { randomUUID } from 'node:crypto';
import { aggregate, type Instant, instantOf, type Stamp, type Stamped } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type AnyProjection,
  projection,
  recordProjection,
  type Stamps,
} from '../define/projection.ts';
import { type ChainHead, chained, emptyChain } from '../log/hash-chain.ts';
import type { EventStore, NewEvent, Position } from '../log/types.ts';

/** An aggregate with no meaning but to have numbers to add up. */
export const counter = aggregate({
  name: 'counter',
  scope: 'environment',
  events: {
    Opened: z.object({ name: z.string(), labels: z.array(z.string()), metadata: z.unknown() }),
    Added: z.object({ amount: z.number(), note: z.string().optional() }),
    Archived: z.object({}),
    Deleted: z.object({}),
  },
  initial: {
    name: '',
    labels: [],
    metadata: {},
    total: 0,
    status: 'published',
    at: '',
    last: '',
  } as {
    name: string;
    labels: string[];
    metadata: unknown;
    total: number;
    status: 'published' | 'archived' | 'deleted';
    at: string;
    last: string;
  },
  evolve(state, event) {
    const last = event.stamp.occurred_at;
    switch (event.type) {
      case 'Opened':
        return { ...state, ...event.data, at: last, last };
      case 'Added':
        return { ...state, total: state.total + event.data.amount, last };
      case 'Archived':
        return { ...state, status: 'archived' as const, last };
      case 'Deleted':
        return { ...state, status: 'deleted' as const, last };
      default:
        return event satisfies never;
    }
  },
});

type CounterState = typeof counter.initial;

/** The resource of a counter; members in an order that jsonb would not keep. */
export const counterView = (state: CounterState) => ({
  total: String(state.total),
  name: state.name,
  labels: state.labels,
  metadata: state.metadata,
  status: state.status,
  created_at: state.at,
  updated_at: state.last,
});

const counterColumns = {
  name: { type: 'text', of: (shown: ReturnType<typeof counterView>) => shown.name, index: true },
  total: { type: 'numeric', of: (shown: ReturnType<typeof counterView>) => shown.total },
  size: { type: 'integer', of: (shown: ReturnType<typeof counterView>) => shown.name.length },
  is_big: { type: 'boolean', of: (shown: ReturnType<typeof counterView>) => +shown.total > 100 },
  labels: {
    type: 'text[]',
    of: (shown: ReturnType<typeof counterView>) => shown.labels,
    index: true,
  },
  opened_at: {
    type: 'timestamptz',
    of: (shown: ReturnType<typeof counterView>) => shown.created_at,
  },
} as const;

export const counters = recordProjection(counter, {
  name: 'counters',
  version: 1,
  view: counterView,
  columns: counterColumns,
});

/** The same rows in another dress, as after a change of the view. */
export const countersSecond = recordProjection(counter, {
  name: 'counters',
  version: 2,
  view: (state: CounterState) => ({ ...counterView(state), doubled: String(state.total * 2) }),
  columns: {
    ...counterColumns,
    doubled: { type: 'numeric', of: (shown) => shown.doubled },
  },
});

/** The instants of a row that one event made, and those of one that another event changed. */
const stampsOf = ({ stamp }: Stamped<unknown>, row?: Stamps | null): Stamps => ({
  created_at: row?.created_at ?? stamp.occurred_at,
  updated_at: stamp.occurred_at,
});

interface Addition extends Stamps {
  readonly amount: number;
  readonly counter_id: string;
}

/** One row per addition. */
export const additions = projection(counter, {
  name: 'additions',
  version: 1,
  columns: {
    amount: { type: 'integer', of: (shown) => shown.amount },
  },
  keys: (event) => (event.type === 'Added' ? [event.event_id] : []),
  adds: (event) => [event.event_id],
  fold: (_row: Addition | null, event) =>
    event.type === 'Added'
      ? { amount: event.data.amount, counter_id: event.aggregate_id, ...stampsOf(event) }
      : null,
  view: (row: Addition) => row,
});

export interface Label extends Stamps {
  readonly uses: number;
}

/** Rows that come and go, and that several streams share: one per label in use. */
export const labels = projection(counter, {
  name: 'labels',
  version: 1,
  keys: (event) =>
    event.type === 'Opened' ? event.data.labels : event.type === 'Archived' ? ['gone'] : [],
  fold: (row: Label | null, event, key) =>
    event.type === 'Archived' || (key === 'fleeting' && row)
      ? null
      : { uses: (row?.uses ?? 0) + 1, ...stampsOf(event, row) },
  view: (row: Label) => row,
});

export const allTables: readonly AnyProjection[] = [counters, additions, labels];

/** An aggregate of the tenant as a whole. */
export const member = aggregate({
  name: 'member',
  scope: 'tenant',
  events: { Joined: z.object({ name: z.string() }) },
  initial: { name: '', created_at: '', updated_at: '' },
  evolve: (_state, event) => ({ name: event.data.name, ...stampsOf(event) }),
});

export const members = recordProjection(member, {
  name: 'members',
  version: 1,
  view: (state) => state,
});

export interface Owner {
  readonly tenant: string;
  readonly environment: string;
}

export const acme: Owner = { tenant: 'tenant_acme', environment: 'env_acme' };
export const bolt: Owner = { tenant: 'tenant_bolt', environment: 'env_bolt' };

export interface TestEvent {
  readonly type: string;
  readonly data: unknown;
}

export const opened = (name: string, more: object = {}): TestEvent => ({
  type: 'Opened',
  data: { name, labels: [], metadata: {}, ...more },
});
export const added = (amount: number): TestEvent => ({ type: 'Added', data: { amount } });

const firstInstant = Date.parse('2026-01-01T00:00:00.000Z');

/** Writes chained events to a log of its own. */
export class Pen {
  readonly store: EventStore;
  readonly #heads = new Map<string, ChainHead>();
  #clock = 0;

  constructor(store: EventStore) {
    this.store = store;
  }

  /** Appends to one record's stream; returns the position of the last event. */
  async write(
    id: string,
    events: readonly TestEvent[],
    { tenant, environment }: Owner = acme,
    category = 'counter',
  ): Promise<Position> {
    const scope = category === 'member' ? tenant : environment;
    const stream = `${category}-${scope}.${id}`;
    let head = this.#heads.get(stream) ?? emptyChain;
    const first = head.revision;
    const written: NewEvent[] = events.map(({ type, data }) => {
      const metadata = {
        tenant_id: tenant,
        environment_id: category === 'member' ? null : environment,
        actor: { user_id: 'user_test' as NonNullable<Stamp['actor']['user_id']>, key_id: null },
        occurred_at: this.#next(),
        schema_version: 1,
        $correlationId: 'req_test',
        $causationId: 'req_test',
      };
      const next = chained(stream, head, { id: randomUUID(), type, data, metadata });
      head = { revision: head.revision + 1, hash: next.event.metadata.hash };
      return next.event;
    });
    const { position } = await this.store.append(stream, written, first);
    this.#heads.set(stream, head);
    return position;
  }

  #next(): Instant {
    this.#clock += 1;
    return instantOf(firstInstant + this.#clock * 1_000);
  }
}
