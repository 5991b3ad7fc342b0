import { invalidOperation } from '@counterfoil/kernel';
import type { Counted, Directory } from './directory.ts';

interface Limit {
  readonly most: number;
  readonly noun: string;
  /** The caller's way out, as a sentence. */
  readonly remedy: string;
}

/**
 * The largest number of records of each kind that a tenant may have (D45). Deleted and revoked ones do not count. Requests that run at
 * the same moment in several processes may exceed a limit by as many as they are.
 */
export const tenancyLimits: Readonly<Record<Counted, Limit>> = {
  environment: {
    most: 100,
    noun: 'environments in this tenant',
    remedy: 'Use one that is there, or ask the operator.',
  },
  user: { most: 1_000, noun: 'users in this tenant', remedy: 'Delete some first.' },
  api_key: {
    most: 1_000,
    noun: 'API keys in this environment',
    remedy: 'Revoke some first.',
  },
};

/** Refuses one more of a kind in a tenant, or in an environment for keys, that has as many as it may. */
export function refuseBeyondLimit(directory: Directory, kind: Counted, place: string): void {
  const { most, noun, remedy } = tenancyLimits[kind];
  if (directory.count(kind, place) < most) return;
  throw invalidOperation(`There are ${most} ${noun}, which is the limit. ${remedy}`, {
    reason: 'limit_reached',
    limit: most,
  });
}
