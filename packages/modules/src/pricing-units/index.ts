import { type Module, module } from '@counterfoil/engine/define';
import type { Use } from '../uses.ts';
import { priceUnit } from './price-unit.ts';
import { priceUnitTable } from './projection.ts';
import { priceUnitPublicEvents } from './public-events.ts';
import { priceUnitRoutes } from './routes.ts';

export {
  archivePriceUnit,
  createPriceUnit,
  type PriceUnitRecord,
  type PriceUnitState,
  priceUnit,
  priceUnitView,
  updatePriceUnit,
} from './price-unit.ts';
export { priceUnitTable } from './projection.ts';
export { priceUnitsById } from './queries.ts';
export { priceUnitReference } from './reference.ts';
export {
  type CreatePriceUnit,
  createPriceUnitSchema,
  type PriceUnit,
  priceUnitSchema,
} from './schema.ts';

interface PricingUnitsOptions {
  readonly inUse: readonly Use<'price_unit'>[];
}

/** Currencies of a tenant's own. `inUse` are asked before a unit is deleted. */
export const pricingUnits = ({ inUse }: PricingUnitsOptions): Module =>
  module({
    name: 'pricing-units',
    aggregates: [priceUnit],
    tables: [priceUnitTable],
    routes: priceUnitRoutes(inUse),
    publicEvents: [priceUnitPublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type PriceUnitRoutes = ReturnType<typeof priceUnitRoutes>;
