import {
  createTreeCheck,
  type EventStore,
  type Finding,
  recordsOf,
  type StoredEvent,
  stampedEvent,
  streamName,
  UnreadableEvent,
} from '@counterfoil/engine';
import { type Checkpoint, ledgerCheckpoint, ledgerPrefix } from '@counterfoil/modules';
import { ZodError } from 'zod';

/** Holds the log against every checkpoint that was signed over it. */
export interface CheckpointCheck {
  /** Takes the next event of the log, of whatever stream. */
  take(event: StoredEvent): void;
  report(): CheckpointReport;
}

export interface CheckpointReport {
  /** The number of checkpoints that were signed. */
  readonly signed: number;
  /** Those that the log does not make any more. */
  readonly lost: readonly Checkpoint[];
  /** The reasons why checkpoints of environments cannot be read, in one sentence each. */
  readonly unreadable: readonly string[];
}

/**
 * Reads the checkpoints and returns a check of the wallets against them: it finds a history that
 * was rewritten together with its chains.
 */
export async function createCheckpointCheck(store: EventStore): Promise<CheckpointCheck> {
  const checks: { prefix: string; trees: ReturnType<typeof treeCheckOf> }[] = [];
  const unreadable: string[] = [];
  let signed = 0;
  try {
    for await (const { id: environmentId } of recordsOf(store, ledgerCheckpoint.name)) {
      const checkpoints = await checkpointsOf(store, environmentId);
      signed += checkpoints.length;
      checks.push({ prefix: ledgerPrefix(environmentId), trees: treeCheckOf(checkpoints) });
    }
  } catch (error) {
    // The store that is away is no finding.
    if (!(error instanceof UnreadableEvent || error instanceof ZodError)) throw error;
    unreadable.push(error.message);
  }
  return {
    take(event) {
      checks.find(({ prefix }) => event.stream.startsWith(prefix))?.trees.take(event);
    },
    report: () => ({ signed, lost: checks.flatMap(({ trees }) => trees.lost()), unreadable }),
  };
}

const treeCheckOf = (checkpoints: readonly Checkpoint[]) =>
  createTreeCheck(
    checkpoints.map((checkpoint) => ({
      ...checkpoint,
      size: checkpoint.tree_size,
      root: checkpoint.root_hash,
      headsRoot: checkpoint.heads_root,
    })),
  );

/** All checkpoints of an environment, oldest first. */
export async function checkpointsOf(
  store: EventStore,
  environmentId: string,
): Promise<readonly Checkpoint[]> {
  const parts = { category: ledgerCheckpoint.name, scope: environmentId, id: environmentId };
  const checkpoints: Checkpoint[] = [];
  for await (const event of store.readStream(streamName(parts))) {
    const { data } = stampedEvent(ledgerCheckpoint, event);
    checkpoints.push(ledgerCheckpoint.events.LedgerCheckpointCreated.parse(data));
  }
  return checkpoints;
}

/** Returns the findings of the check, for the verification in the background. */
export const checkpointFindings = ({ lost, unreadable }: CheckpointReport): readonly Finding[] => [
  ...lost.map(({ id, statement }) => ({
    kind: 'checkpoint' as const,
    place: id,
    scope: environmentOf(statement),
    problem: 'the log up to its position is not what was signed',
  })),
  ...unreadable.map(() => ({
    kind: 'checkpoint' as const,
    place: 'all',
    scope: null,
    problem: 'the checkpoints cannot be read',
  })),
];

/** The statement says whose it is; nobody's when it says nothing. */
function environmentOf(statement: string): string {
  const { environment_id } = JSON.parse(statement) as { readonly environment_id?: unknown };
  return typeof environment_id === 'string' ? environment_id : '';
}
