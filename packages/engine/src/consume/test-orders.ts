/** Orders and the parcels that follow from them, for the tests of reactions. */
import {
  aggregate,
  type EnvironmentId,
  type EventOf,
  invariant,
  type TenantId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { createStreams } from '../decide/streams.ts';
import { systemContext } from '../decide/system-context.ts';
import { type ReactionContext, type ReactionEvent, reaction } from '../define/reaction.ts';
import type { EventStore } from '../log/types.ts';

export const tenantId = 'tenant_1' as TenantId;
export const environmentId = 'env_1' as EnvironmentId;

export const order = aggregate({
  name: 'order',
  scope: 'environment',
  events: { OrderPlaced: z.object({ items: z.number() }), OrderExtended: z.object({}) },
  initial: 0,
  evolve: (items: number, event): number =>
    event.type === 'OrderPlaced' ? event.data.items : items + 1,
});

export const parcel = aggregate({
  name: 'parcel',
  scope: 'environment',
  events: { ItemPacked: z.object({ note: z.string() }) },
  initial: [] as readonly string[],
  evolve: (notes: readonly string[], { data }): readonly string[] => [...notes, data.note],
});

type OrderEvent = ReactionEvent<EventOf<typeof order.events>>;

type Hook = (id: string, revision: number) => Promise<void>;
const nothing: Hook = async () => undefined;

/** Packs an item for each event of an order, with a note of the event and an id; then a leaflet. */
export function packing(before = nothing, between = nothing) {
  const pack = async ({ aggregate_id: id, revision }: OrderEvent, context: ReactionContext) => {
    const add = (note: string) =>
      context.execute(parcel, id, () => [{ type: 'ItemPacked', data: { note } }]);
    await before(id, revision);
    await add(`${revision} ${context.newId('req')}`);
    await between(id, revision);
    await add(`leaflet ${revision}`);
  };
  return reaction(order, { name: 'packing', on: { OrderPlaced: pack, OrderExtended: pack } });
}

/** Somebody who places and extends orders, and looks at parcels. */
export function orders(store: EventStore) {
  const streams = createStreams({ store, aggregates: [order, parcel] });
  const scope = { tenantId, environmentId, correlationId: 'test' };
  const context = systemContext(streams, scope);
  return {
    streams,
    place: (id: string) =>
      context.execute(order, id, () => [{ type: 'OrderPlaced', data: { items: 1 } }]),
    extend: (id: string) => context.execute(order, id, () => [{ type: 'OrderExtended', data: {} }]),
    /** The revisions of the events for which items were packed, each of which got its leaflet. */
    async packed(id: string): Promise<readonly number[]> {
      const notes = await context.load(parcel, id);
      const items = notes.filter((note) => !note.startsWith('leaflet'));
      const revisions = items.map((note) => Number(note.split(' ')[0]));
      const leaflets = notes.filter((note) => note.startsWith('leaflet'));
      invariant(
        leaflets.join() === revisions.map((revision) => `leaflet ${revision}`).join(),
        `not everything was packed once: ${notes.join()}`,
      );
      return revisions;
    },
  };
}
