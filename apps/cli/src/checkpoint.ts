import {
  createStreams,
  grownTree,
  openEventStore,
  recordsOf,
  signingKeyFrom,
  systemContext,
} from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  type CheckpointTools,
  environment,
  ledgerCheckpoint,
  secretsFrom,
  takeCheckpoint,
} from '@counterfoil/modules';

const keyOf = (secretKey: string) => signingKeyFrom(secretsFrom(secretKey).checkpointSeed);

/** `counterfoil keys public`: the key that checkpoints are checked with, as PEM. */
export const publicKeyOf = (secretKey: string): string => keyOf(secretKey).publicKey.trim();

/**
 * `counterfoil checkpoint`: signs what is new in the wallets of every environment. Prints each new
 * checkpoint as one line, to be given to whoever is to hold it.
 */
export async function takeCheckpoints(
  eventStoreUrl: string,
  secretKey: string,
  print: (line: string) => void,
): Promise<void> {
  const store = openEventStore({ url: eventStoreUrl });
  const streams = createStreams({ store, aggregates: [ledgerCheckpoint] });
  const key = keyOf(secretKey);
  const grown: CheckpointTools['grown'] = (prefix, before) => grownTree(store, prefix, before);
  try {
    for await (const { scope, id } of recordsOf(store, environment.name)) {
      const place = { tenantId: scope as TenantId, environmentId: id as EnvironmentId };
      const context = systemContext(streams, { ...place, correlationId: 'checkpoint' });
      const made = await takeCheckpoint({ context, key, grown }, place);
      if (made) print(JSON.stringify({ environment_id: id, ...made }));
    }
  } finally {
    await store.close();
  }
}
