import {
  newText,
  ofTable,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  searchExample,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { callingUser, granterOf } from './caller.ts';
import type { Directory } from './directory.ts';
import { refuseBeyondLimit } from './limits.ts';
import { userTable } from './projection.ts';
import { searchUsers, withTenant } from './queries.ts';
import {
  type CreateUser,
  changeRolesSchema,
  createUserSchema,
  renameUserSchema,
  type User,
  updateMeSchema,
  userSchema,
  userSearchSchema,
} from './schema.ts';
import {
  changeRoles,
  createUser,
  deleteUser,
  describeUser,
  type Granter,
  user,
  userView,
} from './user.ts';

const tag = 'Users';
const idParameters = z.object({ id: referenceSchema('user') });

/** Creates a user in the tenant of the context, as far as its limit allows. */
export async function newUser(
  context: RequestContext,
  directory: Directory,
  body: CreateUser,
  granter: Granter,
): Promise<User> {
  const id = context.newId('user');
  const { state } = await context.execute(user, id, {
    prepare: () => {
      refuseBeyondLimit(directory, 'user', context.principal.tenantId);
      return createUser(id, body, granter);
    },
  });
  return withTenant(context, userView(state));
}

const creation = (directory: Directory) =>
  route({
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
    handle: (context, { body }) => newUser(context, directory, body, granterOf(context)),
  });

const routes = {
  'GET /users/me': route({
    operationId: 'getUserInfo',
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

  'PUT /users/me': route({
    operationId: 'updateUserInfo',
    summary: 'Change the own name and metadata',
    description:
      'Open to every valid key. `""` and null clear the name; `metadata` replaces all of it.',
    tag,
    status: 200,
    permission: null,
    body: updateMeSchema,
    response: userSchema,
    example: { body: { metadata: { desk: '4' } } },
    handle: async (context, { body }) => {
      const id = context.principal.userId;
      const { state } = await context.execute(user, id, describeUser(id, body));
      return withTenant(context, userView(state));
    },
  }),

  'PUT /users/{id}': route({
    summary: 'Rename a user',
    description: 'A service account or a person.',
    tag,
    status: 200,
    permission: 'user:write',
    params: idParameters,
    body: renameUserSchema,
    response: userSchema,
    example: { body: { name: newText('Importer') } },
    handle: async (context, { params: { id }, body }) => {
      const { state } = await context.execute(user, id, describeUser(id, body));
      return withTenant(context, userView(state));
    },
  }),

  'POST /users/search': route({
    summary: 'Search users',
    tag,
    status: 200,
    permission: 'user:read',
    body: ofTable(userTable, userSearchSchema),
    bodyOptional: true,
    response: pageSchema(userSchema),
    example: { body: searchExample, names: { user_ids: 'user' } },
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

/** The routes of users: people and service accounts. */
export const userRoutes = (directory: Directory) =>
  ({ ...routes, 'POST /users': creation(directory) }) satisfies Routes;
