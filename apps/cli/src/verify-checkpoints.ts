import { type EventStore, lostTrees, recordsOf, streamName } from '@counterfoil/engine';
import { type Checkpoint, ledgerCheckpoint, ledgerPrefix } from '@counterfoil/modules';

/**
 * Holds the log against every checkpoint that was signed over it: a history that was written anew,
 * chains and all, is not what was signed. Prints each checkpoint that no longer holds, and a
 * summary. True when all do.
 */
export async function verifyCheckpoints(
  store: EventStore,
  print: (line: string) => void,
): Promise<boolean> {
  let checked = 0;
  let broken = 0;
  for await (const { id: environmentId } of recordsOf(store, ledgerCheckpoint.name)) {
    const trees = await signedTrees(store, environmentId);
    const lost = await lostTrees(store, ledgerPrefix(environmentId), trees);
    for (const { id, position } of lost) {
      print(`checkpoint ${id}: the log up to position ${position} is not what was signed`);
    }
    checked += trees.length;
    broken += lost.length;
  }
  print(`checkpoints: ${checked} signed, ${broken} no longer hold`);
  return broken === 0;
}

/** All checkpoints of an environment. */
export async function checkpointsOf(
  store: EventStore,
  environmentId: string,
): Promise<readonly Checkpoint[]> {
  const parts = { category: ledgerCheckpoint.name, scope: environmentId, id: environmentId };
  const checkpoints: Checkpoint[] = [];
  for await (const { data } of store.readStream(streamName(parts))) {
    checkpoints.push(ledgerCheckpoint.events.LedgerCheckpointCreated.parse(data));
  }
  return checkpoints;
}

const signedTrees = async (store: EventStore, environmentId: string) =>
  (await checkpointsOf(store, environmentId)).map(({ id, tree_size, root_hash, position }) => ({
    id,
    size: tree_size,
    root: root_hash,
    position,
  }));
