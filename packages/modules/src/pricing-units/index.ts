import { module } from '@counterfoil/engine/define';
import { priceUnit, priceUnitRecords } from './price-unit.ts';
import { priceUnitRoutes } from './routes.ts';

export {
  createPriceUnit,
  type PriceUnitRecord,
  priceUnit,
  priceUnitRecords,
  priceUnitReference,
} from './price-unit.ts';
export { createPriceUnitSchema, priceUnitSchema } from './schema.ts';

/** Currencies of a tenant's own. */
export const pricingUnits = module({
  name: 'pricing-units',
  aggregates: [priceUnit],
  tables: [priceUnitRecords.table],
  routes: priceUnitRoutes,
  publicEvents: [priceUnitRecords.publicEvents],
});

/** The routes with their exact types, for the typed client. */
export type PriceUnitRoutes = typeof priceUnitRoutes;
