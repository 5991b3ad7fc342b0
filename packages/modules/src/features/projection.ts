import { recordProjection } from '@counterfoil/engine/define';
import { feature, featureView } from './feature.ts';

/** One row per feature, without its meter and its group. */
export const featureTable = recordProjection(feature, {
  name: 'features',
  version: 1,
  view: featureView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    type: { type: 'text', of: ({ type }) => type },
    lookup_key: { type: 'text', of: ({ lookup_key }) => lookup_key, index: true },
    meter_id: { type: 'text', of: ({ meter_id }) => meter_id, index: true },
    group_id: { type: 'text', of: ({ group_id }) => group_id, index: true },
  },
});
