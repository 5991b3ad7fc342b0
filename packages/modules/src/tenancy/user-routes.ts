import { newText, pageSchema, type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { callingUser, granterOf } from './caller.ts';
import { searchUsers, withTenant } from './queries.ts';
import { changeRolesSchema, createUserSchema, userSchema, userSearchSchema } from './schema.ts';
import { changeRoles, createUser, deleteUser, user, userView } from './user.ts';

const tag = 'Users';
const idParameters = z.object({ id: referenceSchema('user') });

/** The routes of users: people and service accounts. */
export const userRoutes = {
  'GET /users/me': route({
    summary: 'Get the calling user',
    description: 'Open to every valid key. `roles` are those that are effective for the call.',
    tag,
    status: 200,
    permission: null,
    response: userSchema,
    handle: async (context) => {
      const caller = userView(await callingUser(context));
      return withTenant(context, { ...caller, roles: [...granterOf(context).roles] });
    },
  }),

  'POST /users': route({
    summary: 'Create a person or a service account',
    description: 'Nobody can grant a role that gives more than their own roles do.',
    tag,
    status: 201,
    permission: 'user:write',
    body: createUserSchema,
    response: userSchema,
    example: {
      body: { type: 'user', email: newText('ada@example.com'), name: newText('Ada') },
      makes: 'user',
    },
    handle: async (context, { body }) => {
      const id = context.newId('user');
      const { state } = await context.execute(user, id, createUser(id, body, granterOf(context)));
      return withTenant(context, userView(state));
    },
  }),

  'POST /users/search': route({
    summary: 'Search users',
    tag,
    status: 200,
    permission: 'user:read',
    body: userSearchSchema,
    bodyOptional: true,
    response: pageSchema(userSchema),
    example: { names: { user_ids: 'user' } },
    handle: (context, { body }) => searchUsers(context, body),
  }),

  'PUT /users/{id}/roles': route({
    summary: 'Replace the roles of a person',
    description: 'For a super_admin, about others only. Keys lose what their user loses, at once.',
    tag,
    status: 200,
    permission: 'user:write',
    params: idParameters,
    body: changeRolesSchema,
    response: userSchema,
    example: { body: { roles: ['all_reader'] } },
    handle: async (context, { params: { id }, body }) => {
      const { state } = await context.execute(
        user,
        id,
        changeRoles(id, body.roles, granterOf(context)),
      );
      return withTenant(context, userView(state));
    },
  }),

  'DELETE /users/{id}': route({
    summary: 'Delete a user',
    description: 'For a super_admin, about others only. All keys of the user stop working at once.',
    tag,
    status: 204,
    permission: 'user:write',
    params: idParameters,
    handle: async (context, { params: { id } }) => {
      await context.execute(user, id, deleteUser(id, granterOf(context)));
      return undefined;
    },
  }),
} satisfies Routes;
