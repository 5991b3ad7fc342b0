import {
  listShape,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { refuseWhileInUse } from '../uses.ts';
import { archiveGroup, createGroup, group, groupView } from './group.ts';
import { type GroupMembers, usesBy, withMembers } from './members.ts';
import { getGroup, searchGroups } from './queries.ts';
import { createGroupSchema, groupListSchema, groupSchema, groupSearchSchema } from './schema.ts';

const tag = 'Groups';
const idParameters = z.object({ id: referenceSchema('group') });

const routes = {
  'POST /groups': route({
    summary: 'Create a group of features or prices',
    description: 'Features and prices name their group when they are created or changed.',
    tag,
    status: 201,
    permission: 'group:write',
    body: createGroupSchema,
    response: groupSchema,
    example: {
      body: { name: newText('Models'), lookup_key: newText('models'), entity_type: 'feature' },
      makes: 'group',
    },
    handle: async (context, { body }) => {
      const id = context.newId('group');
      const { state, revision } = await context.execute(group, id, createGroup(id, body));
      return withETag({ ...groupView(state), entity_ids: [] }, revision);
    },
  }),

  'GET /groups': route({
    summary: 'List groups',
    tag,
    status: 200,
    permission: 'group:read',
    query: groupListSchema.extend(listShape),
    response: pageSchema(groupSchema),
    example: { names: { group_ids: 'group' } },
    handle: (context, { query }) => searchGroups(context, query),
  }),

  'POST /groups/search': route({
    summary: 'Search groups',
    tag,
    status: 200,
    permission: 'group:read',
    body: groupSearchSchema,
    bodyOptional: true,
    response: pageSchema(groupSchema),
    example: { names: { group_ids: 'group' } },
    handle: (context, { body }) => searchGroups(context, body),
  }),
} satisfies Routes;

/** The routes of groups. `members` know who is in a group. */
export const groupRoutes = (members: readonly GroupMembers[]) =>
  ({
    ...routes,

    'GET /groups/{id}': route({
      summary: 'Get a group with the ids of its members',
      tag,
      status: 200,
      permission: 'group:read',
      params: idParameters,
      response: groupSchema,
      handle: async (context, { params: { id } }) => {
        const { resource, revision } = await getGroup(context, id);
        return withETag(await withMembers(context, resource, members), revision);
      },
    }),

    'DELETE /groups/{id}': route({
      summary: 'Delete a group',
      description:
        'The group is archived: readable by id, out of lists; its lookup_key is free again. ' +
        'Refused while features or prices are in it.',
      tag,
      status: 204,
      permission: 'group:write',
      params: idParameters,
      handle: async (context, { params: { id } }) => {
        await context.execute(group, id, {
          prepare: async () => {
            await refuseWhileInUse(context, 'group', id, usesBy(members));
            return archiveGroup(id);
          },
        });
        return undefined;
      },
    }),
  }) satisfies Routes;
