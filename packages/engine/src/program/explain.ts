import { Problem } from '@counterfoil/kernel';
import { isUnavailable, sqlState } from '../database/database-errors.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { AppendError, StoreRefused, StoreUnavailable } from '../log/types.ts';
import { NatsRefused } from '../nats/nats-connection.ts';
import { ConfigError } from '../operations/config.ts';
import { ForeignLog } from '../projection/log-identity.ts';
import { ProjectorActive, RebuildFailed } from '../projection/rebuild.ts';
import { ReaderRoleMissing } from '../query/reader-role.ts';

/** Errors whose message is for the operator and says everything. */
const speakingErrors = [
  ConfigError,
  Problem,
  ForeignLog,
  RebuildFailed,
  ProjectorActive,
  ReaderRoleMissing,
  StoreRefused,
  NatsRefused,
  UnreadableEvent,
];

/** The sentences for SQLSTATEs that only an administrator can cure. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': 'PostgreSQL refuses the user and password of DATABASE_URL: correct them.',
  '28000':
    'PostgreSQL refuses the user of DATABASE_URL: name another, or let it in by pg_hba.conf.',
  '3D000': 'The database that DATABASE_URL names does not exist: create it, or name another.',
  '42501':
    'The PostgreSQL user of DATABASE_URL lacks a right: let it own the schema counterfoil, or grant ' +
    'it create on the database.',
};

const reasonOf = (error: unknown): string =>
  error instanceof AggregateError
    ? error.errors.map(reasonOf).join('; ')
    : (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 300);

/**
 * One sentence for the operator about an error that is no defect of the program: it names what is wrong
 * and what to do. Null for any other error.
 */
export function explain(error: unknown): string | null {
  if (speakingErrors.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof StoreUnavailable) {
    return `The event store of EVENTSTORE_URL does not answer: start it, or name another (${reasonOf(error)}).`;
  }
  if (error instanceof AppendError && error.failure === 'fatal') {
    return `The event store takes nothing from the user of EVENTSTORE_URL: let it write (${reasonOf(error)}).`;
  }
  const refusal = refusals[sqlState(error) ?? ''];
  if (refusal) return refusal;
  if (!isUnavailable(error)) return null;
  return `PostgreSQL does not answer at DATABASE_URL: start it, or name another (${reasonOf(error)}).`;
}

/** Tells whether a server refuses the program for good; one that is only away does not. */
export const isRefusal = (error: unknown): boolean =>
  !(error instanceof StoreUnavailable) && !isUnavailable(error) && explain(error) !== null;
