import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { priceUnit, priceUnitView } from './price-unit.ts';
import { priceUnitSchema } from './schema.ts';

const messageTypes = {
  PriceUnitCreated: 'price_unit.created',
  PriceUnitUpdated: 'price_unit.updated',
  PriceUnitArchived: 'price_unit.deleted',
} as const;

const body = z.object({ price_unit: priceUnitSchema });

/** Every change of a pricing unit is published, with the whole unit as it is after the change. */
export const priceUnitPublicEvents = publicEvents(
  priceUnit,
  ({ event, after }) => {
    const resource = priceUnitView(after);
    return [
      { type: messageTypes[event.type], resourceId: resource.id, body: { price_unit: resource } },
    ];
  },
  {
    'price_unit.created': { summary: 'A pricing unit is created', body },
    'price_unit.updated': { summary: 'Name or metadata of a pricing unit change', body },
    'price_unit.deleted': { summary: 'A pricing unit is archived', body },
  },
);
