import { type Module, module } from '@counterfoil/engine/define';
import { feature, featureRecords } from './feature.ts';
import { meterOfFeature, meterStop } from './reactions.ts';
import { type FeatureUses, featureRoutes } from './routes.ts';

export {
  createFeature,
  type FeatureData,
  type FeatureRecord,
  feature,
  featureRecords,
  featureReference,
  featureView,
} from './feature.ts';
export { featuresById } from './queries.ts';
export {
  createFeatureSchema,
  type Feature,
  type FeatureType,
  featureSchema,
  featureTypeSchema,
} from './schema.ts';

/** The features, which plans grant. The uses are asked before a meter goes out of use. */
export const features = (uses: FeatureUses): Module =>
  module({
    name: 'features',
    aggregates: [feature],
    tables: [featureRecords.table],
    routes: featureRoutes(uses),
    publicEvents: [featureRecords.publicEvents],
    reactions: [meterOfFeature, meterStop(uses.meterInUse)],
  });

/** The routes with their exact types, for the typed client. */
export type FeatureRoutes = ReturnType<typeof featureRoutes>;
