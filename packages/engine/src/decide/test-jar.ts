import { aggregate, type Decision, invalidOperation, type Problem } from '@counterfoil/kernel';
import { z } from 'zod';
import type { EventStore, StoredEvent, UnreadEvent } from '../log/types.ts';
import type { Command, RawEvent } from './command.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import { createStreams, type StreamsOptions } from './streams.ts';

/** A jar of coins with a name that no other jar may have. */
export interface Jar {
  readonly name: string | null;
  readonly coins: number;
}

export const jar = aggregate({
  name: 'jar',
  scope: 'environment',
  events: {
    Named: z.object({ name: z.string().nullable() }),
    Filled: z.object({ coins: z.number() }),
  },
  initial: { name: null, coins: 0 } as Jar,
  evolve(state, event): Jar {
    switch (event.type) {
      case 'Named':
        return { ...state, name: event.data.name };
      case 'Filled':
        return { ...state, coins: state.coins + event.data.coins };
      default:
        return event satisfies never;
    }
  },
  unique: ({ name }) =>
    name === null ? [] : [{ name: 'name', value: name, problem: `${name} is taken.` }],
});

export type JarDecision = Decision<Jar, RawEvent>;
/** Puts coins in, or takes them out when below zero. */
export const fill =
  (coins: number): JarDecision =>
  (state) => {
    if (state.coins + coins < 0)
      throw invalidOperation('There are not enough coins.', { reason: 'limit_reached' });
    return [{ type: 'Filled', data: { coins } }];
  };
/** Gives the jar another name, or none. */
export const rename =
  (name: string | null): JarDecision =>
  (state) =>
    state.name === name ? [] : [{ type: 'Named', data: { name } }];

/** A command for a jar, with an idempotency key or without. */
export const command = (decide: JarDecision, key?: string, fields = {}): Command<Jar> => ({
  decide,
  cause: {
    tenantId: 'tenant_1',
    environmentId: 'env_1',
    actor: { user_id: null, key_id: null },
    correlationId: 'req_1',
    causationId: 'req_1',
  },
  fingerprint: key === undefined ? null : requestFingerprint('POST /jars/1/fill', key, fields),
  expectedRevision: null,
});

/** A process of its own on a store. */
export const startOn = <Store extends EventStore>(
  store: Store,
  now?: () => number,
  options: Partial<StreamsOptions> = {},
) => {
  const streams = createStreams({ store, aggregates: [jar], ...(now ? { now } : {}), ...options });
  return {
    store,
    streams,
    writer: (id = '1') => streams.writer<Jar>(jar, 'env_1', id),
  };
};

/** An event of a store in memory as a subscription gives it before it is read. */
export const unread = (event: StoredEvent): UnreadEvent => ({
  stream: event.stream,
  revision: event.revision,
  id: event.id,
  position: event.position,
  characters: JSON.stringify(event.data).length,
  read: () => event,
});

/** Returns what a promise brings, or the code of the problem that it is rejected with. */
export const outcomeOf = async <Value>(promise: Promise<Value>): Promise<Value | string> =>
  promise.catch((reason: Problem) => reason.code ?? reason.message);
