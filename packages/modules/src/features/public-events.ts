import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { feature, featureView } from './feature.ts';
import { featureSchema } from './schema.ts';

const messageTypes = {
  FeatureCreated: 'feature.created',
  FeatureUpdated: 'feature.updated',
  FeatureArchived: 'feature.deleted',
} as const;

const body = z.object({ feature: featureSchema });

/** Every change of a feature is published, with the whole feature as it is after the change. */
export const featurePublicEvents = publicEvents(
  feature,
  ({ event, after }) => {
    const resource = featureView(after);
    return [
      { type: messageTypes[event.type], resourceId: resource.id, body: { feature: resource } },
    ];
  },
  {
    'feature.created': { summary: 'A feature is created', body },
    'feature.updated': { summary: 'Data of a feature change', body },
    'feature.deleted': { summary: 'A feature is archived', body },
  },
);
