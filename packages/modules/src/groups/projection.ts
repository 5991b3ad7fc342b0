import { recordProjection } from '@counterfoil/engine/define';
import { group, groupView } from './group.ts';

/** One row per group, without its members. */
export const groupTable = recordProjection(group, {
  name: 'groups',
  version: 1,
  view: groupView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    lookup_key: { type: 'text', of: ({ lookup_key }) => lookup_key, index: true },
    entity_type: { type: 'text', of: ({ entity_type }) => entity_type },
  },
});
