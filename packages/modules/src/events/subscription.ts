import type { DurableReader, ReaderStart } from '@counterfoil/engine/define';
import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type Id,
  invariant,
  type RecordStamps,
  type RecordStatus,
  updatedStamps,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';

export type SubscriptionId = Id<'esub'>;

const startSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('position'), after: z.string() }),
  z.object({ kind: z.literal('time'), at: z.string() }),
  z.object({ kind: z.literal('oldest') }),
]);

const events = {
  EventSubscriptionCreated: z.object({
    id: z.string(),
    name: z.string(),
    /** First word of the event types wanted; null for all. */
    resource: z.string().nullable(),
    start: startSchema,
    unconfirmed_maximum: z.number().int(),
  }),
  /** The reader begins anew, wherever it was. */
  EventSubscriptionReplayed: z.object({ start: startSchema }),
  EventSubscriptionDeleted: z.object({}),
};
export type SubscriptionEvent = EventOf<typeof events>;

export interface Subscription extends RecordStamps {
  readonly id: SubscriptionId;
  readonly status: RecordStatus;
  readonly name: string;
  readonly resource: string | null;
  readonly start: ReaderStart;
  readonly unconfirmed_maximum: number;
  /** How often it has begun; a reader of another generation is out of date. */
  readonly generation: number;
}

/** Null until it is created. */
export type SubscriptionState = Subscription | null;

type SubscriptionDecision = Decision<SubscriptionState, SubscriptionEvent>;

/** A downstream system that reads public events through the broker, which keeps its place. */
export const eventSubscription = aggregate({
  name: 'event_subscription',
  scope: 'environment',
  events,
  initial: null as SubscriptionState,
  evolve: (state, event): SubscriptionState => {
    const { stamp } = event;
    switch (event.type) {
      case 'EventSubscriptionCreated': {
        const { id, ...data } = event.data;
        return {
          id: id as SubscriptionId,
          ...data,
          status: 'published',
          generation: 1,
          ...createdStamps(stamp),
        };
      }
      case 'EventSubscriptionReplayed': {
        const before = existing(state, 'event subscription');
        const { start } = event.data;
        return { ...before, start, generation: before.generation + 1, ...updatedStamps(stamp) };
      }
      case 'EventSubscriptionDeleted':
        return {
          ...existing(state, 'event subscription'),
          status: 'deleted',
          ...updatedStamps(stamp),
        };
      default:
        return event satisfies never;
    }
  },
});

interface NewSubscription {
  readonly id: SubscriptionId;
  readonly name: string;
  readonly resource: string | null;
  readonly start: ReaderStart;
  readonly unconfirmed_maximum: number;
}

/** Creates a subscription. */
export const createSubscription =
  (data: NewSubscription): SubscriptionDecision =>
  (state) => {
    invariant(state === null, `subscription ${data.id} is created twice`);
    return [{ type: 'EventSubscriptionCreated', data }];
  };

/** Begins anew, from another place or the same. Throws 404 when there is none. */
export const replaySubscription =
  (id: string, start: ReaderStart): SubscriptionDecision =>
  (state) => {
    writable(state, 'event subscription', id);
    return [{ type: 'EventSubscriptionReplayed', data: { start } }];
  };

/** Deletes a subscription; one that is gone already stays gone. Throws 404 when there never was one. */
export const deleteSubscription =
  (id: string): SubscriptionDecision =>
  (state) => {
    if (state?.status === 'deleted') return [];
    writable(state, 'event subscription', id);
    return [{ type: 'EventSubscriptionDeleted', data: {} }];
  };

/** What the broker has to keep for a subscription. */
export const readerOf = (subscription: Subscription): DurableReader => ({
  name: subscription.id,
  scope: { tenantId: subscription.tenant_id, environmentId: subscription.environment_id },
  resource: subscription.resource,
  start: subscription.start,
  generation: subscription.generation,
  unconfirmedMaximum: subscription.unconfirmed_maximum,
});
