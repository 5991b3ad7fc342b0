import { randomBytes } from 'node:crypto';
import {
  createStreams,
  type EventStore,
  openEventStore,
  type Streams,
  systemContext,
} from '@counterfoil/engine';
import type { EnvironmentId, TenantId, UserId } from '@counterfoil/kernel';
import {
  apiKey,
  beginInstallation,
  type FirstTenant,
  firstTenant,
  installation,
  installationId,
  installationPlace,
  modules,
  secretsFrom,
  seedOf,
  tenant,
  user,
} from '@counterfoil/modules';
import { OperatorError } from './settings.ts';

type TenantForDemos = Omit<FirstTenant, 'seed'>;

/** The tenant that `counterfoil up` starts with. */
export const demoTenant: TenantForDemos = {
  tenantName: 'Demo Company',
  environmentName: 'Production',
  environmentType: 'production',
  userName: 'Demo Owner',
  email: 'owner@example.com',
  keyName: 'Demo key',
};

/** A second tenant, whose records the first must not see. */
export const secondTenant: TenantForDemos = {
  tenantName: 'Northlight Models',
  environmentName: 'Production',
  environmentType: 'production',
  userName: 'Northlight Owner',
  email: 'owner@northlight.example.com',
  keyName: 'Northlight key',
};

/** A tenant that is there for demos. */
export interface Seeded {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly userId: UserId;
  /** Null when the key has been revoked or its user deleted. */
  readonly apiKey: string | null;
}

/**
 * Creates a tenant with its environment, owner and API key in a log that `counterfoil up` has begun, or
 * begins it. Ids are random for each log; a repetition changes nothing and gives the same key. Throws
 * `OperatorError` for a log that another installation works on.
 */
export async function seedTenant(
  eventStoreUrl: string,
  secretKey: string,
  input: TenantForDemos,
): Promise<Seeded> {
  const secrets = secretsFrom(secretKey);
  const store = openEventStore({ url: eventStoreUrl });
  try {
    const aggregates = modules({ secrets }).flatMap((slice) => slice.aggregates);
    const streams = createStreams({ store, aggregates });
    const seed = await begin(streams, secrets.sealer.keyId, () => hasTenants(store));
    const plan = firstTenant(
      { ...input, seed: `${seed}\n${input.tenantName}` },
      secrets.keyMaterial,
    );
    const { tenantId, environmentId, userId, keyId } = plan;
    const context = systemContext(streams, { tenantId, environmentId, correlationId: 'seed' });
    for (const create of plan.creations) await create(context);
    const key = await streams.writer<typeof apiKey.initial>(apiKey, environmentId, keyId).current();
    const owner = await streams.writer<typeof user.initial>(user, tenantId, userId).current();
    const isValid = key.state?.status === 'published' && owner.state?.status === 'published';
    return { tenantId, environmentId, userId, apiKey: isValid ? plan.apiKey : null };
  } finally {
    await store.close();
  }
}

async function hasTenants(store: EventStore): Promise<boolean> {
  const upTo = await store.head();
  const tenants = store.readLog({ prefixes: [`${tenant.name}-`], after: 0n, upTo });
  for await (const _ of tenants) return true;
  return false;
}

/** Begins the installation, or continues it; returns the seed of its demo tenants. */
async function begin(
  streams: Streams,
  secret_id: string,
  isInUse: () => Promise<boolean>,
): Promise<string> {
  const writer = streams.writer<typeof installation.initial>(
    installation,
    installationPlace,
    installationId,
  );
  if ((await writer.current()).state === null && (await isInUse())) {
    throw new OperatorError(
      'This log has tenants that counterfoil up did not begin with: start the programs one by one, ' +
        'as docs/operating/production.md says, or name another EVENTSTORE_URL.',
    );
  }
  const context = systemContext(streams, {
    tenantId: installationPlace,
    environmentId: 'env_installation' as EnvironmentId,
    correlationId: 'seed',
  });
  const begun = beginInstallation({ seed: randomBytes(16).toString('hex'), secret_id });
  return seedOf((await context.execute(installation, installationId, begun)).state);
}
