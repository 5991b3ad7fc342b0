import { publisher } from '@counterfoil/engine/define';
import { priceUnit, priceUnitView } from './price-unit.ts';

const messageTypes = {
  PriceUnitCreated: 'price_unit.created',
  PriceUnitUpdated: 'price_unit.updated',
  PriceUnitArchived: 'price_unit.deleted',
} as const;

/** Every change of a pricing unit is published, with the whole unit as it is after the change. */
export const priceUnitPublisher = publisher(priceUnit, ({ event, after }) => {
  const resource = priceUnitView(after);
  return [
    { type: messageTypes[event.type], resourceId: resource.id, body: { price_unit: resource } },
  ];
});
