import { type Quota, refuseBeyond } from '@counterfoil/engine/define';
import type { Quotas } from '../quotas.ts';
import type { Counted, Directory } from './directory.ts';

const quotasOf = (quotas: Quotas): Readonly<Record<Counted, Quota>> => ({
  environment: {
    most: quotas.environments,
    noun: 'environments in this tenant',
    remedy: 'Use one that is there, or ask the operator.',
  },
  user: { most: quotas.users, noun: 'users in this tenant', remedy: 'Delete some first.' },
  api_key: {
    most: quotas.apiKeys,
    noun: 'API keys in this environment',
    remedy: 'Revoke some first.',
  },
});

/** Refuses one more of a kind in a tenant, or in an environment for keys, that has as many as it may. */
export const refuseBeyondLimit = (directory: Directory, kind: Counted, place: string): void =>
  refuseBeyond(quotasOf(directory.quotas)[kind], directory.count(kind, place));
