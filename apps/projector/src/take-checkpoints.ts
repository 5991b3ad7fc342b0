import {
  type EventStore,
  grownTree,
  type HeadCache,
  recordsOf,
  type Streams,
  signingKeyFrom,
  systemContext,
} from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  type Checkpoint,
  type CheckpointTools,
  environment,
  ledgerCheckpoint,
  secretsFrom,
  takeCheckpoint,
} from '@counterfoil/modules';

/** The key that checkpoints are signed with, which follows from the secret key. */
export const checkpointKeyOf = (secretKey: string) =>
  signingKeyFrom(secretsFrom(secretKey).checkpointSeed);

/** The parts that taking checkpoints of all environments needs. */
export interface TakingOptions {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly secretKey: string;
  /** Makes later checkpoints of the same process faster. */
  readonly heads?: HeadCache;
  /** Ends it after the environment that is under way. */
  readonly signal?: AbortSignal;
}

/** A checkpoint that was made, and of which environment. */
export interface Taken {
  readonly environmentId: EnvironmentId;
  readonly checkpoint: Checkpoint;
}

/** Signs what is new in the wallets of every environment; returns each checkpoint as it is made. */
export async function* takeCheckpoints(options: TakingOptions): AsyncGenerator<Taken> {
  const { store, streams, secretKey, heads, signal } = options;
  const key = checkpointKeyOf(secretKey);
  const grown: CheckpointTools['grown'] = (prefix, before) =>
    grownTree(store, prefix, before, heads);
  for await (const { scope, id } of recordsOf(store, environment.name)) {
    if (signal?.aborted) return;
    const place = { tenantId: scope as TenantId, environmentId: id as EnvironmentId };
    const acting = { ...place, correlationId: 'checkpoint' };
    const basis = await systemContext(streams, acting).load(ledgerCheckpoint, place.environmentId);
    const occasion = { job: 'checkpoint', key: `after ${basis?.sequence ?? 0}` };
    const context = systemContext(streams, acting, {
      occasion: { ...occasion, remembersEffectsOnly: true },
    });
    const checkpoint = await takeCheckpoint({ context, key, grown }, basis, place);
    if (checkpoint) yield { environmentId: place.environmentId, checkpoint };
  }
}
