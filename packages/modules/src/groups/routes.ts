import { newText, type Routes } from '@counterfoil/engine/define';
import { z } from 'zod';
import { equalTo, oneOf, recordRoutes } from '../record/index.ts';
import { archiveGroup, createGroup, groupRecords } from './group.ts';
import { createGroupSchema, groupEntitySchema } from './schema.ts';

const routes = recordRoutes(groupRecords, {
  tag: 'Groups',
  right: 'group',
  // A group that has just been created has no members.
  embedding: { written: async (_context, group) => ({ ...group, entity_ids: [] }) },
});

const filters = {
  entity_type: equalTo('entity_type', groupEntitySchema),
  lookup_key: equalTo('lookup_key', z.string().max(255)),
  name: equalTo('name', z.string().max(255)),
  group_ids: oneOf('id', 64),
} as const;

/** The routes of groups but one: `offers`, which has members too, shows a group with its members. */
export const groupRoutes = {
  'POST /groups': routes.create({
    summary: 'Create a group of features or prices',
    description: 'Features and prices name their group when they are created or changed.',
    body: createGroupSchema,
    example: {
      body: { name: newText('Models'), lookup_key: newText('models'), entity_type: 'feature' },
    },
    decide: createGroup,
  }),
  'GET /groups': routes.list(filters),
  'POST /groups/search': routes.search('GroupSearch', filters),
  'DELETE /groups/{id}': routes.end({
    description: 'Refused while features or prices are in it.',
    decide: archiveGroup,
  }),
} satisfies Routes;
