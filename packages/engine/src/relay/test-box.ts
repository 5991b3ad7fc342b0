/** A small aggregate with public messages of every kind, for the tests of this folder. */
import { randomUUID } from 'node:crypto';
import { aggregate, instantOf } from '@counterfoil/kernel';
import { z } from 'zod';
import { publicEvents } from '../define/public-event.ts';
import { chained, chainStart } from '../log/hash-chain.ts';
import { streamName } from '../log/stream-name.ts';
import type { EventStore, NewEvent, StoredEvent } from '../log/types.ts';

export interface Box {
  readonly id: string;
  readonly label: string;
  readonly content: number;
}

export const box = aggregate({
  name: 'box',
  scope: 'environment',
  events: {
    Made: z.object({ id: z.string() }),
    Labelled: z.object({ label: z.string() }),
    Filled: z.object({ amount: z.number() }),
    Emptied: z.object({}),
    /** Never leads to a message. */
    Watched: z.object({}),
  },
  initial: { id: '', label: '', content: 0 } as Box,
  evolve(state, event): Box {
    switch (event.type) {
      case 'Made':
        return { ...state, id: event.data.id };
      case 'Labelled':
        return { ...state, label: event.data.label };
      case 'Filled':
        return { ...state, content: state.content + event.data.amount };
      case 'Emptied':
        return { ...state, content: 0 };
      case 'Watched':
        return state;
      default:
        return event satisfies never;
    }
  },
});

const boxBody = z.object({
  box: z.object({ id: z.string(), label: z.string(), content: z.number() }),
});

/** One message for most events, two for `Emptied`, none for `Watched`. */
export const boxPublicEvents = publicEvents(
  box,
  ({ event, before, after }) => {
    const updated = { type: 'box.updated', resourceId: after.id, body: { box: after } };
    switch (event.type) {
      case 'Made':
        return [{ type: 'box.created', resourceId: after.id, body: { box: after } }];
      case 'Watched':
        return [];
      case 'Emptied': {
        const body = { box: after, content: { id: `content_${after.id}`, lost: before.content } };
        return [updated, { type: 'box.content.emptied', resourceId: after.id, body }];
      }
      default:
        return [updated];
    }
  },
  {
    'box.created': { summary: 'A box is made', body: boxBody },
    'box.updated': { summary: 'A box changes', body: boxBody },
    'box.content.emptied': {
      summary: 'A box is emptied',
      body: boxBody.extend({ content: z.object({ id: z.string(), lost: z.number() }) }),
    },
  },
);

const tenant = 'tenant_01';
const environment = 'env_01';

/** The tenant and environment of all boxes. */
export const boxScope = { tenantId: tenant, environmentId: environment } as const;

export const boxStream = (id: string): string =>
  streamName({ category: 'box', scope: environment, id });

type BoxEvent = readonly [type: keyof typeof box.events, data?: Readonly<Record<string, unknown>>];

/** An event as the command side would append it, but for the hash chain. */
export const boxEvent = ([type, data = {}]: BoxEvent, correlation = 'req_01'): NewEvent => ({
  id: randomUUID(),
  type,
  data,
  metadata: {
    tenant_id: tenant,
    environment_id: environment,
    actor: { user_id: null, key_id: null },
    occurred_at: instantOf(Date.parse('2026-11-01T12:00:00.000Z')),
    schema_version: 1,
    $correlationId: correlation,
    $causationId: 'cause_01',
    hash: chainStart,
  },
});

/** The same as it comes out of the log. */
export const storedBoxEvent = (
  event: BoxEvent,
  place: Partial<Pick<StoredEvent, 'stream' | 'revision' | 'position'>> = {},
): StoredEvent => ({
  ...boxEvent(event),
  stream: boxStream('box1'),
  revision: 0,
  position: 1n,
  ...place,
});

/** Lets a store chain the events that are appended to it, as the command side does. */
export function chaining<Store extends Pick<EventStore, 'append'>>(store: Store): Store {
  const append = store.append.bind(store);
  const hashes = new Map<string, string>();
  store.append = (stream, events, expectedRevision) => {
    let revision = expectedRevision;
    const linked = events.map(({ metadata: { hash: _hash, ...metadata }, ...event }) => {
      const hash = hashes.get(`${stream}@${revision}`) ?? chainStart;
      const next = chained(stream, { revision, hash }, { ...event, metadata }).event;
      revision += 1;
      hashes.set(`${stream}@${revision}`, next.metadata.hash);
      return next;
    });
    return append(stream, linked, expectedRevision);
  };
  return store;
}
