import type { Connection } from '../database/database.ts';
import type { Position } from '../log/types.ts';
import type { LogMark } from '../projection/checkpoint.ts';
import { inSchema } from '../projection/table-shape.ts';

/** Something that is not what the log, or what was derived from it, should be. */
export interface Finding {
  readonly kind: 'log' | 'event' | 'checkpoint' | 'read_model';
  /** Such as `wallet-env_….wallet_…@2`, or table, row and field. */
  readonly place: string;
  /** Tenant or environment that it belongs to; null when it concerns everybody. */
  readonly scope: string | null;
  /** One sentence. It names nothing of any other tenant. */
  readonly problem: string;
}

/** The progress of the verification. */
export interface Progress {
  /** Counts the walks through the log, from 1 on. */
  readonly round: number;
  /** Everything up to here has been verified in this round. */
  readonly position: Position;
  /** The last event that was verified, in whatever round; null before the first. */
  readonly mark: Omit<LogMark, 'position'> | null;
  /** The time at which the last complete round ended; null before the first. */
  readonly completedAt: string | null;
}

const progressTable = inSchema('verification');
const findingTable = inSchema('verification_finding');

interface StoredProgress {
  readonly round: string;
  readonly position: string;
  readonly event_stream: string | null;
  readonly event_revision: string | null;
  readonly event_hash: string | null;
  readonly completed_at: string | null;
}

/** Reads how far the verification has come. */
export async function readProgress(connection: Connection): Promise<Progress> {
  const { rows } = await connection.query<StoredProgress>(
    `select round, position, event_stream, event_revision, event_hash, completed_at
       from ${progressTable}`,
  );
  const [row] = rows;
  const { event_stream: stream, event_revision: revision, event_hash: hash } = row ?? {};
  return {
    round: Number(row?.round ?? 1),
    position: BigInt(row?.position ?? 0),
    mark: stream && revision && hash ? { stream, revision: Number(revision), hash } : null,
    completedAt: row?.completed_at ?? null,
  };
}

/** Remembers that everything up to a position has been verified. */
export async function saveProgress(
  connection: Connection,
  position: Position,
  { stream, revision, hash }: Omit<LogMark, 'position'>,
): Promise<void> {
  await connection.query(
    `update ${progressTable} set position = $1, event_stream = $2, event_revision = $3,
            event_hash = $4, verified_at = now()`,
    [String(position), stream, String(revision), hash],
    { name: 'save_verification' },
  );
}

/**
 * Ends a round at a position: the next one begins with the log. Of the kinds that it looked for,
 * what it did not find is gone. That the log was another one stays: no later round can see it.
 */
export async function completeRound(
  connection: Connection,
  { round, kinds }: { readonly round: number; readonly kinds: readonly Finding['kind'][] },
  position: Position,
): Promise<void> {
  await connection.query(
    `delete from ${findingTable} where round < $1 and kind = any($2::text[])`,
    [String(round), [...kinds]],
  );
  await connection.query(
    `update ${progressTable} set round = $1, position = 0, verified_at = now(),
            completed_position = $2, completed_at = now()`,
    [String(round + 1), String(position)],
  );
}

/** Lets the round begin with the log again. */
export async function restartRound(connection: Connection): Promise<void> {
  await connection.query(
    `update ${progressTable} set position = 0, event_stream = null, event_revision = null,
            event_hash = null`,
  );
}

/** Forgets all findings and how far the verification had come: the log is meant to be another one. */
export async function forgetVerification(connection: Connection): Promise<void> {
  await restartRound(connection);
  await connection.query(`delete from ${findingTable}`);
}

/** Findings that are kept; more of them say nothing new. */
const findingsMaximum = 1_000;

/** Keeps a finding, and that this round found it. */
export async function saveFinding(
  connection: Connection,
  round: number,
  { kind, place, scope, problem }: Finding,
): Promise<void> {
  await connection.query(
    `insert into ${findingTable} (kind, place, scope, problem, round)
     select $1, $2, $3, $4, $5
      where (select count(*) from ${findingTable}) < ${findingsMaximum}
         or exists (select from ${findingTable} where kind = $1 and place = $2)
     on conflict (kind, place) do update set problem = excluded.problem, round = excluded.round`,
    [kind, place, scope, problem, String(round)],
  );
}

/** Reads the number of findings, and the first of them in one sentence. */
export async function readFindings(
  connection: Connection,
): Promise<{ readonly count: number; readonly first: string | null }> {
  const { rows } = await connection.query<{ count: string; first: string | null }>(
    `select count(*) as count,
            (select kind || ' ' || place || ': ' || problem from ${findingTable}
              order by found_at, kind, place limit 1) as first
       from ${findingTable}`,
  );
  return { count: Number(rows[0]?.count ?? 0), first: rows[0]?.first ?? null };
}
