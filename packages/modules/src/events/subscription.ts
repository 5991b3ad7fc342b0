import type { DurableReader, ReaderAccess, ReaderStart } from '@counterfoil/engine/define';
import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type Id,
  type Instant,
  instantSchema,
  invariant,
  type RecordStamps,
  type RecordStatus,
  updatedStamps,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { refuseExpired } from '../expiry.ts';

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
  /** The reader starts again, wherever it was. */
  EventSubscriptionReplayed: z.object({ start: startSchema }),
  /** New credentials; those before are void. They follow from the id and their generation. */
  EventSubscriptionCredentialsIssued: z.object({ expires_at: instantSchema.nullable() }),
  EventSubscriptionCredentialsRevoked: z.object({}),
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
  /** The number of times that it has begun; a reader of another generation is out of date. */
  readonly generation: number;
  /** The number of times that it has got credentials. */
  readonly credentials_generation: number;
  /** Those in force; null when there are none. */
  readonly credentials: SubscriptionCredentials | null;
}

export interface SubscriptionCredentials {
  readonly generation: number;
  readonly issued_at: Instant;
  /** Null when they do not expire. */
  readonly expires_at: Instant | null;
}

/** Null until it is created. */
export type SubscriptionState = Subscription | null;

type SubscriptionDecision = Decision<SubscriptionState, SubscriptionEvent>;

/** A downstream system that reads public events through the broker, which keeps its place. */
export const eventSubscription = aggregate({
  name: 'event_subscription',
  scope: 'environment',
  clock: 'system',
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
          credentials_generation: 0,
          credentials: null,
          ...createdStamps(stamp),
        };
      }
      case 'EventSubscriptionReplayed': {
        const before = existing(state, 'event subscription');
        const { start } = event.data;
        return { ...before, start, generation: before.generation + 1, ...updatedStamps(stamp) };
      }
      case 'EventSubscriptionCredentialsIssued': {
        const before = existing(state, 'event subscription');
        const generation = before.credentials_generation + 1;
        const credentials = {
          generation,
          issued_at: stamp.occurred_at,
          expires_at: event.data.expires_at,
        };
        return {
          ...before,
          credentials_generation: generation,
          credentials,
          ...updatedStamps(stamp),
        };
      }
      case 'EventSubscriptionCredentialsRevoked':
        return {
          ...existing(state, 'event subscription'),
          credentials: null,
          ...updatedStamps(stamp),
        };
      case 'EventSubscriptionDeleted':
        return {
          ...existing(state, 'event subscription'),
          status: 'deleted',
          credentials: null,
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

/** Starts again, from another place or the same. Throws 404 when there is none. */
export const replaySubscription =
  (id: string, start: ReaderStart): SubscriptionDecision =>
  (state) => {
    writable(state, 'event subscription', id);
    return [{ type: 'EventSubscriptionReplayed', data: { start } }];
  };

/**
 * Gives it new credentials in the place of those before. Throws 404 when there is none, and 400 when
 * they would have expired already.
 */
export const issueCredentials =
  (id: string, expiresAt: Instant | null): SubscriptionDecision =>
  (state, now) => {
    writable(state, 'event subscription', id);
    refuseExpired(expiresAt, now);
    return [{ type: 'EventSubscriptionCredentialsIssued', data: { expires_at: expiresAt } }];
  };

/** Takes its credentials back; where there are none, nothing changes. Throws 404 when there is none. */
export const revokeCredentials =
  (id: string): SubscriptionDecision =>
  (state) => {
    writable(state, 'event subscription', id);
    if (!state?.credentials) return [];
    return [{ type: 'EventSubscriptionCredentialsRevoked', data: {} }];
  };

/** Deletes a subscription; one that is gone already stays gone. Throws 404 when there never was one. */
export const deleteSubscription =
  (id: string): SubscriptionDecision =>
  (state) => {
    if (state?.status === 'deleted') return [];
    writable(state, 'event subscription', id);
    return [{ type: 'EventSubscriptionDeleted', data: {} }];
  };

/** Returns the reader that the broker has to keep for a subscription. */
export const readerOf = (subscription: Subscription): DurableReader => ({
  name: subscription.id,
  scope: { tenantId: subscription.tenant_id, environmentId: subscription.environment_id },
  resource: subscription.resource,
  start: subscription.start,
  generation: subscription.generation,
  unconfirmedMaximum: subscription.unconfirmed_maximum,
});

/** Returns what its system may read with credentials of its own; null when it never got any. */
export function accessOf(subscription: Subscription): ReaderAccess | null {
  const { credentials, credentials_generation } = subscription;
  if (credentials_generation === 0) return null;
  const { name, scope, resource } = readerOf(subscription);
  return {
    kind: 'reader',
    name,
    scope,
    resource,
    credentials: credentials && {
      generation: credentials.generation,
      issuedAt: credentials.issued_at,
      expiresAt: credentials.expires_at,
    },
    changedAt: subscription.updated_at,
  };
}
