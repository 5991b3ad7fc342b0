/** Orders and the parcels that follow from them, for the tests of reactions. */
import { aggregate, type EnvironmentId, type EventOf, type TenantId } from '@counterfoil/kernel';
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

/** Packs one item for each event of an order, and notes the event and an id. */
export function packing(before: (id: string, revision: number) => Promise<void> = async () => {}) {
  const pack = async ({ aggregate_id: id, revision }: OrderEvent, context: ReactionContext) => {
    await before(id, revision);
    const note = `${revision} ${context.newId('req')}`;
    await context.execute(parcel, id, () => [{ type: 'ItemPacked', data: { note } }]);
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
    /** The revisions of the events for which items were packed. */
    packed: async (id: string) =>
      (await context.load(parcel, id)).map((note) => Number(note.split(' ')[0])),
  };
}
