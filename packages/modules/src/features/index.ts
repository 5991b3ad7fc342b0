import { type Module, module } from '@counterfoil/engine/define';
import { feature } from './feature.ts';
import { featureTable } from './projection.ts';
import { featurePublicEvents } from './public-events.ts';
import { type FeatureUses, featureRoutes } from './routes.ts';

export {
  archiveFeature,
  createFeature,
  type FeatureData,
  type FeatureRecord,
  type FeatureState,
  feature,
  featureView,
  updateFeature,
} from './feature.ts';
export { featureTable } from './projection.ts';
export { featuresById, featuresOfGroup, featuresOfMeter } from './queries.ts';
export { featureReference } from './reference.ts';
export {
  type CreateFeature,
  createFeatureSchema,
  type Feature,
  type FeatureType,
  featureSchema,
  featureTypeSchema,
} from './schema.ts';

/**
 * The features, which plans grant. The uses are asked before a feature, or its meter, goes out of
 * use.
 */
export const features = (uses: FeatureUses): Module =>
  module({
    name: 'features',
    aggregates: [feature],
    tables: [featureTable],
    routes: featureRoutes(uses),
    publicEvents: [featurePublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type FeatureRoutes = ReturnType<typeof featureRoutes>;
