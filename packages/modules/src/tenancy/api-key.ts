import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type Instant,
  instantSchema,
  invalidField,
  invariant,
  type KeyId,
  Problem,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  type UserId,
  updatedStamps,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { refuseExpired } from '../expiry.ts';
import { isSuperAdmin, type Role, roleSchema, type UserType, userTypeSchema } from './roles.ts';
import type { ApiKey } from './schema.ts';
import type { Granter, UserRecord } from './user.ts';

const events = {
  ApiKeyCreated: z.object({
    id: referenceSchema('secret'),
    name: z.string(),
    type: z.literal('private_key'),
    /** SHA-256 of the whole key. The key itself is stored nowhere. */
    hash: z.string(),
    display_id: z.string(),
    user_id: referenceSchema('user'),
    user_type: userTypeSchema,
    service_account_name: z.string().nullable(),
    /** The most that the key may do, however the roles of its user change. */
    roles: z.array(roleSchema).readonly(),
    expires_at: instantSchema.nullable(),
  }),
  ApiKeyRevoked: z.object({}),
} as const;
export type ApiKeyEvent = EventOf<typeof events>;

export interface ApiKeyRecord extends RecordStamps {
  readonly id: KeyId;
  readonly status: RecordStatus;
  readonly name: string;
  readonly type: 'private_key';
  readonly hash: string;
  readonly display_id: string;
  readonly user_id: UserId;
  readonly user_type: UserType;
  readonly service_account_name: string | null;
  readonly roles: readonly Role[];
  readonly expires_at: Instant | null;
}

/** Null until the key is created. */
export type ApiKeyState = ApiKeyRecord | null;

export const apiKey = aggregate({
  name: 'api_key',
  scope: 'environment',
  clock: 'system',
  events,
  initial: null as ApiKeyState,
  evolve: (state, event): ApiKeyState => {
    const { stamp } = event;
    switch (event.type) {
      case 'ApiKeyCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'ApiKeyRevoked':
        return { ...existing(state, 'key'), status: 'deleted', ...updatedStamps(stamp) };
      default:
        return event satisfies never;
    }
  },
});

/** The user for whom a key acts, and the roles that it has at most. */
export type KeyOwner = Pick<
  ApiKeyRecord,
  'user_id' | 'user_type' | 'service_account_name' | 'roles'
>;

/**
 * Returns the owner of a key that a caller may make: the caller itself, with the roles of the call;
 * or, when a super_admin who is a person calls, a service account with its roles. Anything else is 403.
 */
export function keyOwner(
  caller: UserRecord,
  callerRoles: readonly Role[],
  account: UserRecord | null,
): KeyOwner {
  if (caller.type === 'service_account' || (account && !isSuperAdmin(callerRoles))) {
    throw new Problem(
      'permission_denied',
      'Only a person who is super_admin can make a key for a service account.',
    );
  }
  if (account && account.type !== 'service_account') {
    throw invalidField('/service_account_id', 'names a person, not a service account');
  }
  const { id, type, name } = account ?? caller;
  return {
    user_id: id,
    user_type: type,
    service_account_name: account && name,
    roles: account?.roles ?? callerRoles,
  };
}

/** The parts of a new key. */
export interface NewApiKey {
  readonly id: KeyId;
  readonly name: string;
  readonly hash: string;
  readonly display_id: string;
  readonly owner: KeyOwner;
  readonly expires_at: Instant | null;
}

/** Creates a key. One that has expired already is refused. */
export const createApiKey =
  ({ owner, ...key }: NewApiKey): Decision<ApiKeyState, ApiKeyEvent> =>
  (state, at) => {
    invariant(state === null, `key ${key.id} is created twice`);
    refuseExpired(key.expires_at, at);
    return [{ type: 'ApiKeyCreated', data: { ...key, type: 'private_key', ...owner } }];
  };

/** Revokes a key for good: one's own, or as super_admin any key of the environment. */
export const revokeApiKey =
  (id: KeyId, caller: Granter): Decision<ApiKeyState, ApiKeyEvent> =>
  (state) => {
    const current = writable(state, 'key', id);
    if (current.user_id !== caller.userId && !isSuperAdmin(caller.roles)) {
      throw new Problem(
        'permission_denied',
        'Only a super_admin can revoke the key of another user.',
      );
    }
    return [{ type: 'ApiKeyRevoked', data: {} }];
  };

/** The key as the API shows it: masked, and without its hash. */
export const apiKeyView = (state: ApiKeyState): ApiKey => {
  const { hash: _, roles, ...record } = existing(state, 'key');
  return { ...withoutNulls(record), roles: [...roles] };
};
