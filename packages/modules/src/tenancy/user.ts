import {
  aggregate,
  type Changes,
  changedFields,
  type Decision,
  type EventOf,
  existing,
  invalidField,
  invalidOperation,
  invariant,
  isEmpty,
  type Metadata,
  Problem,
  type RecordStatus,
  referenceSchema,
  type UserId,
  updatedStamps,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  isSuperAdmin,
  type Role,
  refuseGrantBeyond,
  roleFault,
  roleSchema,
  type UserType,
  userTypeSchema,
} from './roles.ts';
import type { CreateUser, UserWithoutTenant } from './schema.ts';
import { createdTenantStamps, type TenantStamps } from './stamps.ts';

const events = {
  UserCreated: z.object({
    id: referenceSchema('user'),
    type: userTypeSchema,
    email: z.string().nullable(),
    name: z.string().nullable(),
    roles: z.array(roleSchema).readonly(),
    metadata: z.record(z.string(), z.string()),
  }),
  /** Only what changed. */
  UserUpdated: z.object({
    changes: z
      .object({ name: z.string().nullable(), metadata: z.record(z.string(), z.string()) })
      .partial(),
  }),
  UserRolesChanged: z.object({ roles: z.array(roleSchema).readonly() }),
  UserDeleted: z.object({}),
} as const;
export type UserEvent = EventOf<typeof events>;

export interface UserRecord extends TenantStamps {
  readonly id: UserId;
  readonly status: RecordStatus;
  readonly type: UserType;
  /** Null for service accounts. */
  readonly email: string | null;
  readonly name: string | null;
  readonly roles: readonly Role[];
  readonly metadata: Metadata;
}

/** Null until the user is created. */
export type UserState = UserRecord | null;

export const user = aggregate({
  name: 'user',
  scope: 'tenant',
  events,
  initial: null as UserState,
  evolve: (state, event): UserState => {
    const { stamp } = event;
    switch (event.type) {
      case 'UserCreated':
        return { ...event.data, status: 'published', ...createdTenantStamps(stamp) };
      case 'UserUpdated':
        return {
          ...withChanges<UserRecord>(existing(state, 'user'), event.data.changes),
          ...updatedStamps(stamp),
        };
      case 'UserRolesChanged':
        return { ...existing(state, 'user'), roles: event.data.roles, ...updatedStamps(stamp) };
      case 'UserDeleted':
        return { ...existing(state, 'user'), status: 'deleted', ...updatedStamps(stamp) };
      default:
        return event satisfies never;
    }
  },
  /** Two addresses that differ in case only are the same person's. */
  unique: (state) =>
    state?.status === 'published' && state.email !== null
      ? [
          {
            name: 'email',
            value: state.email.toLowerCase(),
            problem: `Another user has the e-mail address ${JSON.stringify(state.email)}.`,
          },
        ]
      : [],
});

/** The caller who decides about a user: its id, and what its key allows. */
export interface Granter {
  readonly userId: UserId | null;
  readonly roles: readonly Role[];
}

/** Creates a person or a service account. Nobody grants more than they hold (403). */
export const createUser =
  (id: UserId, request: CreateUser, granter: Granter): Decision<UserState, UserEvent> =>
  (state) => {
    invariant(state === null, `user ${id} is created twice`);
    const { type, email = null, name = null, roles, metadata = {} } = request;
    refuseGrantBeyond(granter.roles, roles);
    return [{ type: 'UserCreated', data: { id, type, email, name, roles, metadata } }];
  };

type Description = Pick<UserRecord, 'name' | 'metadata'>;

/** Changes the name or the metadata of a user. */
export const describeUser =
  (id: UserId, request: Changes<Description>): Decision<UserState, UserEvent> =>
  (state) => {
    const changes = changedFields<Description>(writable(state, 'user', id), request);
    return isEmpty(changes) ? [] : [{ type: 'UserUpdated', data: { changes } }];
  };

/** A super_admin decides about others only, so that a tenant never loses its last one by mistake. */
function refuseUnlessOtherSuperAdmin(id: UserId, granter: Granter): void {
  if (!isSuperAdmin(granter.roles)) {
    throw new Problem('permission_denied', 'Only a super_admin can do this to a user.');
  }
  if (granter.userId === id) {
    throw new Problem('permission_denied', 'Another super_admin has to do this to your own user.');
  }
}

/** Replaces the roles of a person. Those of a service account never change. */
export const changeRoles =
  (id: UserId, roles: readonly Role[], granter: Granter): Decision<UserState, UserEvent> =>
  (state) => {
    const current = writable(state, 'user', id);
    refuseUnlessOtherSuperAdmin(id, granter);
    if (current.type === 'service_account') {
      throw invalidOperation('The roles of a service account never change. Create another one.', {
        reason: 'immutable',
      });
    }
    const fault = roleFault(current.type, roles);
    if (fault) throw invalidField(fault.pointer, fault.message);
    const isSame =
      roles.length === current.roles.length && roles.every((r) => current.roles.includes(r));
    return isSame ? [] : [{ type: 'UserRolesChanged', data: { roles } }];
  };

/** Removes a user. All its keys stop working with it. */
export const deleteUser =
  (id: UserId, granter: Granter): Decision<UserState, UserEvent> =>
  (state) => {
    writable(state, 'user', id);
    refuseUnlessOtherSuperAdmin(id, granter);
    return [{ type: 'UserDeleted', data: {} }];
  };

/** The user as the API shows it, but for the tenant that every user is shown with. */
export const userView = (state: UserState): UserWithoutTenant => {
  const { email, name, roles, ...record } = existing(state, 'user');
  return { ...record, email: email ?? '', ...(name !== null && { name }), roles: [...roles] };
};
