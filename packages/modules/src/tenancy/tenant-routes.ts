import { newText, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { getTenant } from './queries.ts';
import { tenantSchema, updateTenantSchema } from './schema.ts';
import { tenant, tenantView, updateTenant } from './tenant.ts';

const tag = 'Tenants';

/** The routes of tenants. There are no others than the caller's own. */
export const tenantRoutes = {
  'GET /tenants/{id}': route({
    summary: 'Get the own tenant',
    tag,
    status: 200,
    permission: 'tenant:read',
    params: z.object({ id: referenceSchema('tenant') }),
    response: tenantSchema,
    handle: async (context, { params }) => {
      const { resource, revision } = await getTenant(context, params.id);
      return withETag(resource, revision);
    },
  }),

  'PUT /tenants/update': route({
    operationId: 'updateTenant',
    summary: 'Update the own tenant',
    description: 'Those of `billing_details` change one by one.',
    tag,
    status: 200,
    permission: 'tenant:write',
    body: updateTenantSchema,
    response: tenantSchema,
    example: { body: { metadata: { note: newText('Headquarters') } } },
    handle: async (context, { body }) => {
      const id = context.principal.tenantId;
      const { state, revision } = await context.execute(tenant, id, updateTenant(id, body));
      return withETag(tenantView(state), revision);
    },
  }),
} satisfies Routes;
