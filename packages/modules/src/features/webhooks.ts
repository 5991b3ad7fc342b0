import { publisher } from '@counterfoil/engine/define';
import { feature, featureView } from './feature.ts';

const messageTypes = {
  FeatureCreated: 'feature.created',
  FeatureUpdated: 'feature.updated',
  FeatureArchived: 'feature.deleted',
} as const;

/** Every change of a feature is published, with the whole feature as it is after the change. */
export const featurePublisher = publisher(feature, ({ event, after }) => {
  const resource = featureView(after);
  return [{ type: messageTypes[event.type], resourceId: resource.id, body: { feature: resource } }];
});
