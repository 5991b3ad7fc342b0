import type { SenderAccess } from '@counterfoil/engine/define';
import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type Id,
  type Instant,
  instantSchema,
  invariant,
  type KeyId,
  Problem,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  type UserId,
  updatedStamps,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { refuseExpired } from '../../expiry.ts';
import { usageIntake } from '../usage-event.ts';

export type UsageCredentialsId = Id<'ucred'>;

const events = {
  /** A system may send usage over NATS for an API key. The credentials follow from the id. */
  UsageCredentialsIssued: z.object({
    id: z.string(),
    name: z.string(),
    key_id: referenceSchema('secret'),
    user_id: referenceSchema('user'),
    expires_at: instantSchema.nullable(),
  }),
  UsageCredentialsRevoked: z.object({}),
} as const;
export type UsageCredentialsEvent = EventOf<typeof events>;

export interface UsageCredentials extends RecordStamps {
  readonly id: UsageCredentialsId;
  readonly status: RecordStatus;
  readonly name: string;
  /** The API key that they were issued for: with them one may record usage as long as it may. */
  readonly key_id: KeyId;
  /** Its user. */
  readonly user_id: UserId;
  readonly issued_at: Instant;
  /** Null when they do not expire by themselves. */
  readonly expires_at: Instant | null;
}

/** Null until they are issued. */
export type UsageCredentialsState = UsageCredentials | null;
type UsageCredentialsDecision = Decision<UsageCredentialsState, UsageCredentialsEvent>;

/** Credentials with which a system sends usage over NATS. */
export const usageCredentials = aggregate({
  name: 'usage_credentials',
  scope: 'environment',
  clock: 'system',
  events,
  initial: null as UsageCredentialsState,
  evolve: (state, event): UsageCredentialsState => {
    const { stamp } = event;
    switch (event.type) {
      case 'UsageCredentialsIssued': {
        const { id, ...data } = event.data;
        return {
          id: id as UsageCredentialsId,
          ...data,
          issued_at: stamp.occurred_at,
          status: 'published',
          ...createdStamps(stamp),
        };
      }
      case 'UsageCredentialsRevoked':
        return { ...existing(state, noun), status: 'deleted', ...updatedStamps(stamp) };
      default:
        return event satisfies never;
    }
  },
});

const noun = 'usage credentials';

type NewUsageCredentials = Pick<
  UsageCredentials,
  'id' | 'name' | 'key_id' | 'user_id' | 'expires_at'
>;

/** Issues credentials. Throws 400 when they would have expired already. */
export const issueUsageCredentials =
  (data: NewUsageCredentials): UsageCredentialsDecision =>
  (state, now) => {
    invariant(state === null, `${data.id} is issued twice`);
    refuseExpired(data.expires_at, now);
    return [{ type: 'UsageCredentialsIssued', data }];
  };

/** The caller that takes credentials back. */
interface Revoker {
  readonly userId: UserId;
  readonly isAdmin: boolean;
}

/**
 * Takes credentials back, for good. Throws 404 when there are none in force, and 403 unless they are the caller's own
 * or it is a super_admin.
 */
export const revokeUsageCredentials =
  (id: string, { userId, isAdmin }: Revoker): UsageCredentialsDecision =>
  (state) => {
    writable(state, noun, id);
    if (!isAdmin && state?.user_id !== userId) {
      throw new Problem(
        'permission_denied',
        'Only their user or a super_admin can revoke credentials.',
      );
    }
    return [{ type: 'UsageCredentialsRevoked', data: {} }];
  };

/** Returns what a system may do with the credentials. */
export const accessOf = ({
  id,
  status,
  key_id,
  tenant_id,
  environment_id,
  issued_at,
  expires_at,
  updated_at,
}: UsageCredentials): SenderAccess => ({
  kind: 'sender',
  name: id,
  scope: { tenantId: tenant_id, environmentId: environment_id },
  intake: usageIntake.name,
  keyId: key_id,
  credentials:
    status === 'published' ? { generation: 1, issuedAt: issued_at, expiresAt: expires_at } : null,
  changedAt: updated_at,
});
