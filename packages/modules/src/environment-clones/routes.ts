import { newText, type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  invalidField,
  notFound,
  referenceSchema,
  requiredTextSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { exportCatalog, importCatalog } from '../catalog-transfer/index.ts';
import {
  createEnvironment,
  type Directory,
  type EnvironmentRecord,
  environment,
  environmentTypeSchema,
  refuseBeyondLimit,
  refuseUnlessAdmin,
} from '../tenancy/index.ts';

const cloneSchema = withConditions(
  z.object({
    name: requiredTextSchema(255).nullish().meta({ description: 'Of a new environment' }),
    type: environmentTypeSchema
      .nullish()
      .meta({ description: 'Of a new environment; by default that of the source' }),
    target_environment_id: referenceSchema('env')
      .nullish()
      .meta({ description: 'An environment that is there' }),
  }),
  [
    {
      oneOf: ['name', 'target_environment_id'],
      says: 'name a new environment, or one that is there, and not both',
    },
  ],
).meta({ id: 'CloneEnvironment' });
type Clone = z.output<typeof cloneSchema>;

const cloneStartedSchema = z
  .object({
    message: z.string(),
    workflow_id: z.string().meta({ description: 'The import in the target' }),
    run_id: z.string(),
    environment_id: z.string().meta({ description: 'The target' }),
  })
  .meta({ id: 'EnvironmentClone' });

/** An environment of the tenant. Throws 404 when there is none, and names the field. */
async function existingEnvironment(
  context: RequestContext,
  id: EnvironmentId,
  field: string,
): Promise<EnvironmentRecord> {
  const state = await context.load(environment, id);
  if (state?.status !== 'published') throw notFound('environment', id, field);
  return state;
}

/** An environment to be created once its catalogue has been decided. */
async function newTarget(
  context: RequestContext,
  directory: Directory,
  id: EnvironmentId,
): Promise<void> {
  // A repetition finds it there and must not be refused for it.
  if (await context.load(environment, id)) return;
  refuseBeyondLimit(directory, 'environment', context.principal.tenantId);
}

/** Copies the catalogue of an environment into the target; returns the id of the import. */
async function copyCatalogue(
  context: RequestContext,
  from: EnvironmentId,
  to: EnvironmentId,
): Promise<string> {
  const { tenantId } = context.principal;
  const document = await exportCatalog(context.within({ tenantId, environmentId: from }));
  const target = context.within({ tenantId, environmentId: to });
  const request = { document, dry_run: false, prune: false };
  const { id } = await importCatalog(target, request, { isAlwaysRecorded: true });
  return id ?? '';
}

async function cloneEnvironment(
  context: RequestContext,
  directory: Directory,
  id: EnvironmentId,
  { name, type, target_environment_id: targetId }: Clone,
) {
  refuseUnlessAdmin(context, 'clone an environment');
  const source = await existingEnvironment(context, id, 'id');
  if (targetId) await existingEnvironment(context, targetId, 'target_environment_id');
  if (targetId === id) throw invalidField('/target_environment_id', 'is the source itself');
  const target = targetId ?? context.newId('env');
  if (!targetId) await newTarget(context, directory, target);
  const importId = await copyCatalogue(context, id, target);
  if (name) {
    const fields = { name, type: type ?? source.type, timezone: source.timezone };
    await context.execute(environment, target, createEnvironment(target, fields));
  }
  return {
    message: 'The catalogue has been copied.',
    workflow_id: importId,
    run_id: importId,
    environment_id: target,
  };
}

/** The routes of environment clones. Limits are counted in the directory. */
export const cloneRoutes = (directory: Directory) =>
  ({
    'POST /environments/{id}/clone': route({
      summary: 'Copy the catalogue of an environment into another one',
      description:
        'For a super_admin. The target is a new environment, called `name`, or the one that ' +
        '`target_environment_id` names; what that has beside it stays.',
      tag: 'Environments',
      status: 202,
      permission: 'environment:write',
      params: z.object({ id: referenceSchema('env') }),
      body: cloneSchema,
      response: cloneStartedSchema,
      example: { body: { name: newText('Staging'), type: 'development' } },
      handle: (context, { params: { id }, body }) => cloneEnvironment(context, directory, id, body),
    }),
  }) satisfies Routes;
