import type { RequestContext } from '@counterfoil/engine/define';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  type Checkpoint,
  type CheckpointKey,
  createCheckpoint,
  type LedgerTree,
  ledgerCheckpoint,
} from './checkpoint.ts';

/** Streams whose events are the leaves of an environment's tree. */
export const ledgerPrefix = (environmentId: string): string => `wallet-${environmentId}.`;

/** The tree of nothing, from which the first checkpoint grows. */
const emptyTree = { size: 0, peaks: [], position: '0' } as const;

/** The parts from outside that taking a checkpoint needs. */
export interface CheckpointTools {
  /** Acts in the environment for the service itself. */
  readonly context: Pick<RequestContext, 'execute'>;
  readonly key: CheckpointKey;
  /** The tree after the events that have come since it was as given. */
  readonly grown: (
    prefix: string,
    before: Pick<LedgerTree, 'size' | 'peaks' | 'position'>,
  ) => Promise<LedgerTree>;
}

/**
 * Signs the events of the wallets of an environment since its last checkpoint, the basis. Reads
 * only those. Returns the new checkpoint; null when there was nothing to sign.
 */
export async function takeCheckpoint(
  { context, key, grown }: CheckpointTools,
  basis: Checkpoint | null,
  scope: { readonly tenantId: TenantId; readonly environmentId: EnvironmentId },
): Promise<Checkpoint | null> {
  const { environmentId } = scope;
  const before = basis
    ? { size: basis.tree_size, peaks: basis.peaks, position: basis.position }
    : emptyTree;
  const tree = await grown(ledgerPrefix(environmentId), before);
  if (tree.size === before.size) return null;
  const decision = createCheckpoint({ ...scope, tree, basis, key });
  const { events } = await context.execute(ledgerCheckpoint, environmentId, decision);
  return events[0]?.data ?? null;
}
