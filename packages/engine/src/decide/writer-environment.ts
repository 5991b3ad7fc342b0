import type { Instant } from '@counterfoil/kernel';
import type { Claims } from '../constraints/lease.ts';
import type { EventStore } from '../log/types.ts';
import type { Gate } from '../stream-cache/gate.ts';
import type { Snapshots } from '../stream-cache/snapshot-folder.ts';
import type { Waypoints } from '../stream-cache/waypoints.ts';

/** The parts that the writers of all streams share. */
export interface WriterEnvironment {
  readonly store: EventStore;
  readonly now: () => Instant;
  readonly newEventId: () => string;
  readonly snapshots?: Snapshots;
  readonly waypoints: Waypoints;
  /** Through which long folds of old outcomes go, of all streams of the process. */
  readonly longFolds: Gate;
  readonly acquireClaims: Claims['acquire'];
  readonly onBatch?: (commands: number, events: number) => void;
  readonly onConflict?: () => void;
}

/**
 * Commands that may wait in one mailbox (more are told to come back); decisions of one batch, and times
 * that a command goes to claim what it needs, before they are told that others are in the way.
 */
export const writerLimits = { mailbox: 2_000, rounds: 8, claimings: 32 } as const;
