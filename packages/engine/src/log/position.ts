/**
 * Positions as the engine knows them: one number for each pair of a commit and a prepare position of
 * the server. A pair (p, p) is the place right after the event at p, a pair (p, 0) the one right
 * before whatever is at p. A server that has passed over events for others names such a place between
 * events, and takes up a subscription only at a place that it has named.
 */
import { invalidOperation, type Problem } from '@counterfoil/kernel';
import type { Position } from './types.ts';

/** The place right after the event at a commit position; by it the event itself is known. */
export const atEvent = (commit: number | bigint): Position => 2n * BigInt(commit) + 1n;

/** The place that a pair stands for. */
export const positionOf = (pair: {
  readonly commit: number;
  readonly prepare: number;
}): Position => (pair.prepare < pair.commit ? 2n * BigInt(pair.commit) : atEvent(pair.commit));

/** The pair that stands for a place. */
export function pairOf(position: Position): { readonly commit: bigint; readonly prepare: bigint } {
  const commit = position / 2n;
  return { commit, prepare: position % 2n === 0n ? 0n : commit };
}

/** The refusal of a position that the log, which ends at `newest`, has not reached. */
export const beyondLog = (position: Position | string, newest: Position): Problem =>
  invalidOperation(`Position ${position} does not exist yet: the log ends at ${newest}.`, {
    reason: 'not_yet_reached',
    newest_position: String(newest),
  });
