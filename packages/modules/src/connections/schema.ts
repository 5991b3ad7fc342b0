import {
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** The kinds of storage that a connection leads to. */
export const providerTypeSchema = z.enum(['s3', 'local_folder']);
export type ProviderType = z.output<typeof providerTypeSchema>;

/** A credential goes into headers of HTTP, which take visible ASCII characters. */
const credentialSchema = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters');

/** The credentials of an S3 connection, which is all that is secret of it. */
export const s3CredentialsSchema = z
  .object({
    aws_access_key_id: credentialSchema(128),
    aws_secret_access_key: credentialSchema(256),
    aws_session_token: credentialSchema(4096).nullish(),
  })
  .meta({ id: 'S3Credentials' });
export type S3Credentials = z.output<typeof s3CredentialsSchema>;

/** Credentials as a request brings them. */
export const connectionSecretSchema = z.object({ s3: s3CredentialsSchema.nullish() }).meta({
  id: 'ConnectionSecret',
  description: 'Encrypted before it is recorded, and never shown again',
});
export type ConnectionSecret = z.output<typeof connectionSecretSchema>;

const directionsSchema = z
  .object({ inbound: z.boolean().default(false), outbound: z.boolean().default(false) })
  .meta({ id: 'SyncDirections' });

/** The kinds of records that clients of the public contract say may go over a connection. */
export const syncConfigSchema = z
  .object({
    plan: directionsSchema.nullish(),
    subscription: directionsSchema.nullish(),
    invoice: directionsSchema.nullish(),
    payment: directionsSchema.nullish(),
    deal: directionsSchema.nullish(),
    quote: directionsSchema.nullish(),
  })
  .meta({ id: 'SyncConfig' });

const nameSchema = requiredTextSchema(255);

/** Body of POST /connections. */
export const createConnectionSchema = z
  .object({
    name: nameSchema,
    provider_type: providerTypeSchema,
    encrypted_secret_data: connectionSecretSchema.nullish(),
    sync_config: syncConfigSchema.nullish(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CreateConnection' });
export type CreateConnection = z.output<typeof createConnectionSchema>;

/** Body of PUT /connections/{id}. Credentials are replaced as a whole. */
export const updateConnectionSchema = z
  .object({
    name: nameSchema.optional(),
    encrypted_secret_data: connectionSecretSchema.optional(),
    sync_config: syncConfigSchema.nullish(),
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
  })
  .meta({ id: 'UpdateConnection' });
export type UpdateConnection = z.output<typeof updateConnectionSchema>;

/** The connection on the wire. Nothing of its credentials is in it. */
export const connectionSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    provider_type: providerTypeSchema,
    sync_config: syncConfigSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'Connection' });
export type Connection = z.output<typeof connectionSchema>;
