import { sql } from 'kysely';
import type { Connection } from '../database/database.ts';
import type { VerificationFindingTable } from '../database/schema.ts';
import { statements, transactionTime } from '../database/statements.ts';
import type { Position } from '../log/types.ts';
import type { LogMark } from '../projection/checkpoint.ts';

/** A place where the log, or a row derived from it, is not as it should be. */
export interface Finding {
  readonly kind: VerificationFindingTable['kind'];
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

/** Reads how far the verification has come. */
export async function readProgress(connection: Connection): Promise<Progress> {
  const { rows } = await connection.run(statements.selectFrom('verification').selectAll());
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
  await connection.run(
    statements.updateTable('verification').set({
      position: String(position),
      event_stream: stream,
      event_revision: String(revision),
      event_hash: hash,
      verified_at: transactionTime,
    }),
    { prepared: true },
  );
}

/**
 * Ends a round at a position: the next one begins with the log. Findings of the kinds that it
 * looked for, and did not find again, are gone. The finding that the log was another one stays,
 * because no later round can see it.
 */
export async function completeRound(
  connection: Connection,
  { round, kinds }: { readonly round: number; readonly kinds: readonly Finding['kind'][] },
  position: Position,
): Promise<void> {
  await connection.run(
    statements
      .deleteFrom('verification_finding')
      .where('round', '<', String(round))
      .where('kind', 'in', kinds),
  );
  await connection.run(
    statements.updateTable('verification').set({
      round: String(round + 1),
      position: '0',
      verified_at: transactionTime,
      completed_position: String(position),
      completed_at: transactionTime,
    }),
  );
}

/** Lets the round begin with the log again. */
export async function restartRound(connection: Connection): Promise<void> {
  const begun = { position: '0', event_stream: null, event_revision: null, event_hash: null };
  await connection.run(statements.updateTable('verification').set(begun));
}

/** Forgets all findings and how far the verification had come: the log is meant to be another one. */
export async function forgetVerification(connection: Connection): Promise<void> {
  await restartRound(connection);
  await connection.run(statements.deleteFrom('verification_finding'));
}

/** Findings that are kept; more of them say nothing new. */
const findingsMaximum = 1_000;

/** Keeps a finding, and that this round found it. */
export async function saveFinding(
  connection: Connection,
  round: number,
  { kind, place, scope, problem }: Finding,
): Promise<void> {
  const found = { problem, round: String(round) };
  const changed = await connection.run(
    statements
      .updateTable('verification_finding')
      .set(found)
      .where((finding) => finding.and({ kind, place })),
  );
  if (changed.count > 0 || (await readFindings(connection)).count >= findingsMaximum) return;
  await connection.run(
    statements.insertInto('verification_finding').values({ kind, place, scope, ...found }),
  );
}

/** Reads the number of findings, and the first of them in one sentence. */
export async function readFindings(
  connection: Connection,
): Promise<{ readonly count: number; readonly first: string | null }> {
  const { rows } = await connection.run(
    statements
      .selectFrom('verification_finding')
      .select(['kind', 'place', 'problem', sql<string>`count(*) over ()`.as('count')])
      .orderBy('found_at')
      .orderBy('kind')
      .orderBy('place')
      .limit(1),
  );
  const [first] = rows;
  if (!first) return { count: 0, first: null };
  return { count: Number(first.count), first: `${first.kind} ${first.place}: ${first.problem}` };
}
