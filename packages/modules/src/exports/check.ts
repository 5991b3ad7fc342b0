import { join } from 'node:path';
import { type RequestContext, type Routes, route, where } from '@counterfoil/engine/define';
import { canonicalJson, referenceSchema, writable } from '@counterfoil/kernel';
import { SealBroken, type Sealer, type TargetPolicy } from '@counterfoil/webhooks';
import { z } from 'zod';
import {
  type ConnectionRecord,
  connection,
  connectionSecretSchema,
  type S3Credentials,
  s3CredentialsIn,
  s3CredentialsOf,
} from '../connections/index.ts';
import {
  assertPlace,
  type JobConfig,
  jobConfigSchema,
  scheduledTaskTable,
  wholeJobConfig,
} from '../scheduled-tasks/index.ts';
import { StorageFailed } from './destinations/destination.ts';

/** Everything that trying a connection needs from outside. */
export interface CheckOptions {
  readonly sealer: Sealer;
  readonly policy: TargetPolicy;
  /** The folder of exports to local folders; null where this process has none. */
  readonly folder: string | null;
}

/** Characters of what is told of a problem: a storage may answer anything. */
const problemMaximum = 1_000;
/** Scheduled tasks whose places one request tries. */
const tasksMaximum = 10;

const checkConnectionSchema = z
  .object({
    job_config: jobConfigSchema
      .optional()
      .meta({ description: 'The place to try; default: those of the scheduled tasks' }),
    encrypted_secret_data: connectionSecretSchema
      .optional()
      .meta({ description: 'Credentials to try before they replace those that are there' }),
  })
  .meta({ id: 'CheckConnection' });
type CheckConnection = z.output<typeof checkConnectionSchema>;

const triedPlaceSchema = z
  .object({
    bucket: z.string(),
    key_prefix: z.string(),
    region: z.string().nullable(),
    endpoint_url: z.string().nullable(),
    result: z.enum(['ok', 'failing']).meta({ description: 'Whether exports can go there' }),
    problem: z.string().nullable().meta({ description: 'What is wrong; null: nothing' }),
  })
  .meta({ id: 'TriedPlace' });
type TriedPlace = z.output<typeof triedPlaceSchema>;

const checkedConnectionSchema = z
  .object({
    connection_id: z.string(),
    result: z.enum(['ok', 'failing', 'untried']).meta({
      description: 'untried: no place is named, and no scheduled task uses the connection',
    }),
    places: z.array(triedPlaceSchema).meta({ description: 'The places that were tried' }),
  })
  .meta({ id: 'CheckedConnection' });

/** The places that a request names, or those of the tasks that use the connection, each once. */
async function placesOf(
  { read }: RequestContext,
  { id, provider_type }: ConnectionRecord,
  { job_config }: CheckConnection,
  policy: TargetPolicy,
): Promise<readonly JobConfig[]> {
  if (job_config) {
    assertPlace(provider_type, job_config, policy);
    return [wholeJobConfig(job_config)];
  }
  const { items } = await read.list(scheduledTaskTable, { limit: tasksMaximum, offset: 0 }, [
    ...where('connection_id', 'eq', id),
    ...where('status', 'eq', 'published'),
  ]);
  const places = items.map(({ job_config: config }) => [placeIn(config), config] as const);
  return [...new Map(places).values()];
}

/** The part of a configuration that says where rows go, to tell places apart. */
const placeIn = (config: JobConfig): string => {
  const { bucket, region, key_prefix, endpoint_url, use_path_style, encryption } = config;
  return canonicalJson({ bucket, region, key_prefix, endpoint_url, use_path_style, encryption });
};

/** The credentials to try; null for a storage that needs none. Throws `StorageFailed` for those that cannot be opened. */
function credentialsFor(
  record: ConnectionRecord,
  given: CheckConnection['encrypted_secret_data'],
  sealer: Sealer,
): S3Credentials | null {
  if (given) return s3CredentialsIn(record.provider_type, given);
  if (record.provider_type !== 's3') return null;
  try {
    return s3CredentialsOf(record, sealer);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    const message =
      'The credentials were sealed with another secret key of the service. Send them again by PUT /connections/{id}.';
    throw new StorageFailed(message, true, error);
  }
}

/** The reason why exports cannot go to a place, in words; null for none. */
async function problemOf(
  record: ConnectionRecord,
  config: JobConfig,
  given: CheckConnection['encrypted_secret_data'],
  { sealer, policy, folder }: CheckOptions,
): Promise<string | null> {
  try {
    const { tenant_id, environment_id } = record;
    const credentials = credentialsFor(record, given, sealer);
    // Loaded only where something is tried.
    const { probeBucket, probeFolder } = await import('./destinations/probe.ts');
    if (credentials) await probeBucket({ config, credentials, policy });
    else if (folder === null) return 'This process has no folder for exports (EXPORT_FOLDER).';
    else await probeFolder(join(folder, tenant_id, environment_id, config.bucket));
    return null;
  } catch (error) {
    if (error instanceof StorageFailed) return error.message.slice(0, problemMaximum);
    throw error;
  }
}

function resultOf(places: readonly TriedPlace[]): 'ok' | 'failing' | 'untried' {
  if (places.length === 0) return 'untried';
  return places.every(({ result }) => result === 'ok') ? 'ok' : 'failing';
}

const params = z.object({ id: referenceSchema('conn') });

/** The route that tries a connection (D84). */
export const checkRoutes = (options: CheckOptions) =>
  ({
    'POST /connections/{id}/check': route({
      operationId: 'checkConnection',
      summary: 'Try the credentials of a connection',
      description:
        'Does what an export does, at a place that the request names or at those of the scheduled tasks, and leaves nothing there. ' +
        'The answer says in words what is wrong. Credentials that come with the request are tried in the place of those that are there, and not kept.',
      tag: 'Connections',
      status: 200,
      permission: 'connection:write',
      params,
      body: checkConnectionSchema,
      bodyOptional: true,
      response: checkedConnectionSchema,
      example: { body: {}, texts: ['encrypted_secret_data.s3.aws_access_key_id'] },
      handle: async (context, { params: { id }, body }) => {
        const record = writable(await context.load(connection, id), 'connection', id);
        const { encrypted_secret_data: given } = body;
        if (given) s3CredentialsIn(record.provider_type, given);
        const configs = await placesOf(context, record, body, options.policy);
        const places = await Promise.all(
          configs.map(async (config): Promise<TriedPlace> => {
            const problem = await problemOf(record, config, given, options);
            const { bucket, key_prefix, region, endpoint_url } = config;
            const place = { bucket, key_prefix, region, endpoint_url };
            return { ...place, result: problem === null ? 'ok' : 'failing', problem };
          }),
        );
        return { connection_id: id, result: resultOf(places), places };
      },
    }),
  }) satisfies Routes;
