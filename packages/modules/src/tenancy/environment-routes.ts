import {
  newText,
  ofTable,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { notFound, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { granterOf } from './caller.ts';
import type { Directory } from './directory.ts';
import {
  createEnvironment,
  environment,
  environmentView,
  updateEnvironment,
} from './environment.ts';
import { refuseBeyondLimit } from './limits.ts';
import { environmentTable } from './projection.ts';
import { listEnvironments } from './queries.ts';
import { isSuperAdmin } from './roles.ts';
import {
  createEnvironmentSchema,
  environmentListSchema,
  environmentSchema,
  environmentsSchema,
  updateEnvironmentSchema,
} from './schema.ts';

const tag = 'Environments';
const idParameters = z.object({ id: referenceSchema('env') });

/** Refuses a caller who is no admin of the tenant (D44). */
export function refuseUnlessAdmin(context: RequestContext, what: string): void {
  if (isSuperAdmin(granterOf(context).roles)) return;
  throw new Problem('permission_denied', `Only a super_admin can ${what}.`);
}

/** Creates an environment in the tenant of the context, as far as its limit allows. */
export async function newEnvironment(
  context: RequestContext,
  directory: Directory,
  body: z.output<typeof createEnvironmentSchema>,
) {
  const id = context.newId('env');
  const { state, revision } = await context.execute(environment, id, {
    prepare: () => {
      refuseBeyondLimit(directory, 'environment', context.principal.tenantId);
      return createEnvironment(id, body);
    },
  });
  return withETag(environmentView(state), revision);
}

/** The routes of a tenant's environments. */
export const environmentRoutes = (directory: Directory) =>
  ({
    'GET /environments': route({
      summary: 'List the environments of the tenant',
      tag,
      status: 200,
      permission: 'environment:read',
      query: ofTable(environmentTable, environmentListSchema),
      response: environmentsSchema,
      handle: (context, { query }) => listEnvironments(context, query),
    }),

    'POST /environments': route({
      summary: 'Create an environment',
      description:
        'For a super_admin. It is empty; `POST /secrets/api/keys` with its id makes a key of it.',
      tag,
      status: 201,
      permission: 'environment:write',
      body: createEnvironmentSchema,
      response: environmentSchema,
      example: { body: { name: newText('Sandbox'), type: 'development' }, makes: 'env' },
      handle: (context, { body }) => {
        refuseUnlessAdmin(context, 'create an environment');
        return newEnvironment(context, directory, body);
      },
    }),

    'GET /environments/{id}': route({
      summary: 'Get an environment',
      tag,
      status: 200,
      permission: 'environment:read',
      params: idParameters,
      response: environmentSchema,
      handle: async (context, { params: { id } }) => {
        const found = await context.read.find(environmentTable, id);
        if (!found) throw notFound('environment', id);
        return withETag(found.resource, found.revision);
      },
    }),

    'PUT /environments/{id}': route({
      summary: 'Rename an environment or change its time zone',
      description: 'For a super_admin. The type never changes.',
      tag,
      status: 200,
      permission: 'environment:write',
      params: idParameters,
      body: updateEnvironmentSchema,
      response: environmentSchema,
      example: { body: { timezone: 'Europe/Berlin' } },
      handle: async (context, { params: { id }, body }) => {
        refuseUnlessAdmin(context, 'change an environment');
        const { state, revision } = await context.execute(
          environment,
          id,
          updateEnvironment(id, body),
        );
        return withETag(environmentView(state), revision);
      },
    }),
  }) satisfies Routes;
