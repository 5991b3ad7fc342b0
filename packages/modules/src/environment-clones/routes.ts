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
import { exportCatalog, importCatalog, type Step } from '../catalog-transfer/index.ts';
import {
  createEnvironment,
  type Directory,
  type EnvironmentRecord,
  environment,
  environmentTypeSchema,
  refuseBeyondLimit,
  refuseUnlessAdmin,
  requestClone,
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

/** The creation of a target, as the last step of the import that fills it: it never shows without its catalogue. */
function creationOf(target: EnvironmentId, source: EnvironmentRecord, { name, type }: Clone): Step {
  const fields = { name: name ?? '', type: type ?? source.type, timezone: source.timezone };
  const events = createEnvironment(target, fields)(null, source.created_at);
  return { aggregate: environment.name, id: target, events: events.map((event) => ({ ...event })) };
}

/**
 * Copies the catalogue of an environment. That it was asked for stands with the source, so that a
 * repetition is known whatever its target; everything else is one import.
 */
async function cloneEnvironment(
  context: RequestContext,
  directory: Directory,
  id: EnvironmentId,
  body: Clone,
) {
  refuseUnlessAdmin(context, 'clone an environment');
  const source = await existingEnvironment(context, id, 'id');
  const { target_environment_id: given } = body;
  if (given === id) throw invalidField('/target_environment_id', 'is the source itself');
  const { tenantId } = context.principal;
  const target = given ?? context.newId('env');
  const inTarget = () => context.within({ tenantId, environmentId: target });
  const document = await exportCatalog(context.within({ tenantId, environmentId: id }));
  await context.execute(environment, id, {
    prepare: async () => {
      if (given) await existingEnvironment(context, given, 'target_environment_id');
      else refuseBeyondLimit(directory, 'environment', tenantId);
      // What the target refuses is told before anything is recorded.
      await importCatalog(inTarget(), { document, dry_run: true, prune: false });
      return requestClone(id, target);
    },
  });
  const request = { document, dry_run: false, prune: false };
  const further = given ? [] : [creationOf(target, source, body)];
  const copied = await importCatalog(inTarget(), request, { isAlwaysRecorded: true, further });
  return {
    message: 'The catalogue has been copied.',
    workflow_id: copied.id ?? '',
    run_id: copied.id ?? '',
    environment_id: target,
  };
}

/** The routes of environment clones. Limits are counted in the directory. */
export const cloneRoutes = (directory: Directory) =>
  ({
    'POST /environments/{id}/clone': route({
      summary: 'Copy the catalogue of an environment into another one',
      description:
        'For a super_admin. Into a new environment, called `name`, or `target_environment_id`; what that has beside it stays.',
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
