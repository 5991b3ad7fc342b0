import {
  canonicalJson,
  type Decision,
  invalidField,
  invalidOperation,
  invariant,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { type Sealed, type Sealer, sealedSchema } from '@counterfoil/webhooks';
import { z } from 'zod';
import { type EventsOf, type RecordOf, record } from '../record/index.ts';
import {
  type ConnectionSecret,
  type CreateConnection,
  connectionSchema,
  type ProviderType,
  providerTypeSchema,
  type S3Credentials,
  s3CredentialsSchema,
  syncConfigSchema,
  type UpdateConnection,
} from './schema.ts';

/** A way to a storage that lies outside, with credentials that only the service itself can open (D83). */
export const connectionRecords = record({
  name: 'connection',
  called: 'connection',
  prefix: 'conn',
  life: {
    created: {
      event: 'ConnectionCreated',
      publishes: 'connection.created',
      when: 'A connection is created',
    },
    updated: {
      event: 'ConnectionUpdated',
      publishes: 'connection.updated',
      when: 'A connection changes, its credentials included',
    },
    archived: {
      event: 'ConnectionArchived',
      publishes: 'connection.deleted',
      when: 'A connection is archived',
    },
  },
  fixed: { provider_type: providerTypeSchema },
  changeable: {
    name: z.string(),
    /** Null where the kind of storage needs none. */
    secret: sealedSchema.nullable(),
    sync_config: syncConfigSchema.nullable(),
    metadata: z.record(z.string(), z.string()),
  },
  schema: connectionSchema,
  view: ({ secret: _, ...connection }) => withoutNulls(connection),
  table: {
    name: 'connections',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      provider_type: { type: 'text', of: ({ provider_type }) => provider_type },
    },
  },
});

export type ConnectionEvent = EventsOf<typeof connectionRecords>;
export type ConnectionRecord = RecordOf<typeof connectionRecords>;
export const { aggregate: connection, archive: archiveConnection } = connectionRecords;

type ConnectionDecision = Decision<ConnectionRecord | null, ConnectionEvent>;

/** The purpose of a sealed text of a connection, so that it opens for nothing else (see sealing.ts). */
const sealingContext = (id: string): string => `connection/${id}/credentials`;

const field = '/encrypted_secret_data';

/** The text that is sealed for a kind of storage. Throws 400 naming the field where it does not fit the kind. */
function secretText(provider: ProviderType, given: ConnectionSecret | undefined): string | null {
  switch (provider) {
    case 's3':
      if (!given?.s3) throw invalidField(`${field}/s3`, 'is required for an S3 connection');
      return canonicalJson(withoutNulls(given.s3));
    case 'local_folder':
      if (given?.s3) throw invalidField(`${field}/s3`, 'must be left out: a folder needs none');
      return null;
    default:
      return provider satisfies never;
  }
}

function sealed(sealer: Sealer, id: string, text: string | null): Sealed | null {
  return text === null ? null : sealer.seal(text, sealingContext(id));
}

/** Creates a connection with its credentials sealed. Throws 400 where they do not fit the kind of storage. */
export function createConnection(
  sealer: Sealer,
  id: ConnectionRecord['id'],
  { encrypted_secret_data, provider_type, name, sync_config, metadata }: CreateConnection,
): ConnectionDecision {
  const secret = sealed(sealer, id, secretText(provider_type, encrypted_secret_data ?? undefined));
  return connectionRecords.create({
    ...{ id, provider_type, name, metadata, secret },
    sync_config: sync_config ?? null,
  });
}

/**
 * Changes what is given and differs. Credentials that are the same as those that are there are no change, although
 * they would be sealed differently.
 */
export function updateConnection(
  sealer: Sealer,
  id: ConnectionRecord['id'],
  { encrypted_secret_data: given, ...changes }: UpdateConnection,
): ConnectionDecision {
  return (state, at) => {
    const { provider_type: provider, secret } = writable(state, 'connection', id);
    const update = (own: { readonly secret?: Sealed | null }) =>
      connectionRecords.update(id, { ...changes, ...own })(state, at);
    if (given === undefined) return update({});
    const text = secretText(provider, given);
    const before = secret && sealer.open(secret, sealingContext(id));
    return update(text === before ? {} : { secret: sealed(sealer, id, text) });
  };
}

/** Credentials as a request brings them, to be tried before they replace others. Throws 400 where they do not fit the kind of storage. */
export function s3CredentialsIn(
  provider: ProviderType,
  given: ConnectionSecret,
): S3Credentials | null {
  const text = secretText(provider, given);
  return text === null ? null : s3CredentialsSchema.parse(JSON.parse(text));
}

/**
 * The credentials of an S3 connection, for whoever connects to it. They belong into no event, answer, error or log
 * line (D83). Throws 400 for a connection of another kind, and `SealBroken` where another key has sealed them.
 */
export function s3CredentialsOf(
  { id, provider_type: provider, secret }: ConnectionRecord,
  sealer: Sealer,
): S3Credentials {
  if (provider !== 's3') {
    throw invalidOperation(`The connection ${id} leads to a ${provider}, not to S3.`, {
      reason: 'unsuitable',
    });
  }
  invariant(secret, `the S3 connection ${id} has no credentials`);
  return s3CredentialsSchema.parse(JSON.parse(sealer.open(secret, sealingContext(id))));
}
