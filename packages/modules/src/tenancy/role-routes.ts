import { type Routes, route } from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import { z } from 'zod';
import { roleSchema, roleView } from './roles.ts';
import { roleDefinitionSchema, roleDefinitionsSchema, roleListSchema } from './schema.ts';

const tag = 'Roles';

/** The routes that show the table of roles. */
export const roleRoutes = {
  'GET /rbac/roles': route({
    summary: 'List the roles',
    description: 'With their rights.',
    tag,
    status: 200,
    permission: 'user:read',
    query: roleListSchema,
    response: roleDefinitionsSchema,
    handle: async (_context, { query: { user_type } }) => ({
      roles: roleSchema.options
        .map(roleView)
        .filter(({ user_types }) => user_type === undefined || user_types.includes(user_type)),
    }),
  }),

  'GET /rbac/roles/{id}': route({
    summary: 'Get a role with its rights',
    tag,
    status: 200,
    permission: 'user:read',
    params: z.object({ id: z.string().max(64) }),
    response: roleDefinitionSchema,
    example: { params: { id: 'all_reader' }, texts: ['id'] },
    handle: async (_context, { params: { id } }) => {
      const known = roleSchema.safeParse(id);
      if (!known.success) throw notFound('role', id);
      return roleView(known.data);
    },
  }),
} satisfies Routes;
