import { module } from '@counterfoil/engine/define';
import { taxRoutes } from './routes.ts';
import { taxAssociation, taxAssociationRecords } from './tax-association.ts';
import { taxRate, taxRateRecords } from './tax-rate.ts';

export {
  type Association,
  associationSchema,
  type CreateAssociation,
  createAssociationSchema,
  type TaxEntity,
  taxEntitySchema,
  updateAssociationSchema,
} from './association-schema.ts';
export { type TaxBehavior, taxBehaviorSchema } from './behavior.ts';
export { type TaxExemption, taxExemptionInput, taxExemptionSchema } from './exemption.ts';
export { type TaxFailureReason, taxFailureSchema } from './failure.ts';
export {
  type BroughtAssociation,
  broughtAssociationData,
  broughtAssociations,
  carryOutBrought,
  taxRateOverridesSchema,
} from './overrides.ts';
export { taxRateSchema } from './rate-schema.ts';
export {
  type AssociationRecord,
  associationWith,
  createAssociation,
  deleteAssociation,
  taxAssociation,
  taxAssociationRecords,
  updateAssociation,
} from './tax-association.ts';
export {
  activeTaxRate,
  taxRate,
  taxRateRecords,
  taxRateReference,
  taxRateView,
} from './tax-rate.ts';

/** Tax rates, and to whom they are attached. */
export const taxes = module({
  name: 'taxes',
  aggregates: [taxRate, taxAssociation],
  tables: [taxRateRecords.table, taxAssociationRecords.table],
  routes: taxRoutes,
  publicEvents: [taxRateRecords.publicEvents, taxAssociationRecords.publicEvents],
});

/** The routes with their exact types, for the typed client. */
export type TaxRoutes = typeof taxRoutes;
