import { module } from '@counterfoil/engine/define';
import { feature, featureRecords } from './feature.ts';
import { meterOfFeature, meterStop } from './reactions.ts';
import { featureRoutes } from './routes.ts';

export { featuresById } from './embedding.ts';
export {
  createFeature,
  type FeatureData,
  type FeatureRecord,
  feature,
  featureRecords,
  featureReference,
  featureView,
} from './feature.ts';
export {
  createFeatureSchema,
  type Feature,
  type FeatureType,
  featureSchema,
  featureTypeSchema,
} from './schema.ts';

/** The features, which plans grant. */
export const features = module({
  name: 'features',
  aggregates: [feature],
  tables: [featureRecords.table],
  routes: featureRoutes,
  publicEvents: [featureRecords.publicEvents],
  reactions: [meterOfFeature, meterStop],
});

/** The routes with their exact types, for the typed client. */
export type FeatureRoutes = typeof featureRoutes;
