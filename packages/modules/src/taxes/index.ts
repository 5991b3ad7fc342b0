import { module } from '@counterfoil/engine/define';
import { taxAssociationRoutes } from './association-routes.ts';
import { taxAssociationTable, taxRateTable } from './projection.ts';
import { taxAssociationPublicEvents, taxRatePublicEvents } from './public-events.ts';
import { taxRateRoutes } from './rate-routes.ts';
import { taxAssociation } from './tax-association.ts';
import { taxRate } from './tax-rate.ts';

export { type Association, associationSchema, type TaxEntity } from './association-schema.ts';
export { taxAssociationTable, taxRateTable } from './projection.ts';
export {
  type CreateTaxRate,
  createTaxRateSchema,
  type TaxRate,
  taxRateSchema,
} from './rate-schema.ts';
export { taxRateReference } from './reference.ts';
export { associationView, type TaxAssociationRecord, taxAssociation } from './tax-association.ts';
export {
  archiveTaxRate,
  createTaxRate,
  type Tax,
  type TaxRateRecord,
  taxRate,
  taxRateView,
  updateTaxRate,
} from './tax-rate.ts';

/** Tax rates, and to whom they are attached. */
export const taxes = module({
  name: 'taxes',
  aggregates: [taxRate, taxAssociation],
  tables: [taxRateTable, taxAssociationTable],
  routes: { ...taxRateRoutes, ...taxAssociationRoutes },
  publicEvents: [taxRatePublicEvents, taxAssociationPublicEvents],
});

/** The routes with their exact types, for the typed client. */
export type TaxRoutes = typeof taxRateRoutes & typeof taxAssociationRoutes;
