import { type FieldProblem, Problem } from '@counterfoil/kernel';
import { z } from 'zod';

/** The type of a user: a person, or a program of the tenant. */
export const userTypeSchema = z.enum(['user', 'service_account']);
export type UserType = z.output<typeof userTypeSchema>;

export const roleSchema = z.enum([
  'super_admin',
  'all_reader',
  'all_writer',
  'event_ingestor',
  'event_reader',
]);
export type Role = z.output<typeof roleSchema>;

interface RoleDefinition {
  readonly name: string;
  readonly description: string;
  /** Operations as `resource:action`; `*` stands for every one. */
  readonly rights: readonly string[];
  readonly heldBy: readonly UserType[];
}

/** The one table of roles (D13). */
export const roles: Readonly<Record<Role, RoleDefinition>> = {
  super_admin: {
    name: 'Super admin',
    description: 'Everything; never together with another role',
    rights: ['*:*'],
    heldBy: ['user', 'service_account'],
  },
  all_reader: {
    name: 'Reader',
    description: 'Reading everything',
    rights: ['*:read'],
    heldBy: ['user'],
  },
  all_writer: {
    name: 'Writer',
    description: 'Reading and writing everything',
    rights: ['*:read', '*:write'],
    heldBy: ['user'],
  },
  event_ingestor: {
    name: 'Event ingestor',
    description: 'Writing usage events',
    rights: ['event:write'],
    heldBy: ['service_account'],
  },
  event_reader: {
    name: 'Event reader',
    description: 'Reading usage events',
    rights: ['event:read'],
    heldBy: ['service_account'],
  },
};

const rightsOf = (held: readonly Role[]): readonly string[] =>
  held.flatMap((role) => roles[role].rights);

/** Tells whether roles together give the right to an operation such as `wallet:write`. */
export function allows(held: readonly Role[], permission: string): boolean {
  const action = permission.slice(permission.indexOf(':') + 1);
  const rights = rightsOf(held);
  return rights.includes('*:*') || rights.includes(`*:${action}`) || rights.includes(permission);
}

/** Tells whether roles together give everything that one role gives. */
const covers = (held: readonly Role[], role: Role): boolean =>
  roles[role].rights.every((right) => allows(held, right));

/** A role as the API shows it: its rights as actions by resource. */
export function roleView(role: Role) {
  const { name, description, rights, heldBy } = roles[role];
  const permissions: Record<string, string[]> = {};
  for (const right of rights) {
    const [resource = '', action = ''] = right.split(':');
    permissions[resource] = [...(permissions[resource] ?? []), action];
  }
  return { id: role, name, description, user_types: [...heldBy], permissions };
}

export const isSuperAdmin = (held: readonly string[]): boolean => held.includes('super_admin');

/**
 * Returns what two sets of roles both allow, as roles. A key acts with what it was issued with and
 * what its user still has: a right taken from the user is gone from its keys at once, a right given
 * to it later never reaches a key that was made before.
 */
export const commonRoles = (left: readonly Role[], right: readonly Role[]): readonly Role[] => [
  ...new Set([
    ...left.filter((role) => covers(right, role)),
    ...right.filter((role) => covers(left, role)),
  ]),
];

/** Throws 403 when `granted` contains a role that gives more than the granting roles do. */
export function refuseGrantBeyond(granting: readonly Role[], granted: readonly Role[]): void {
  const beyond = granted.filter((role) => !covers(granting, role));
  if (beyond.length === 0) return;
  throw new Problem(
    'permission_denied',
    `Nobody can grant more than they hold: ${beyond.join(', ')}. Ask a super_admin.`,
    { details: { roles: beyond } },
  );
}

/**
 * Returns what is wrong with a user of this type having these roles together; null when nothing is.
 */
export function roleFault(type: UserType, held: readonly Role[]): FieldProblem | null {
  const misplaced = held.findIndex((role) => !roles[role].heldBy.includes(type));
  if (misplaced >= 0) {
    return { pointer: `/roles/${misplaced}`, message: `cannot be held by a ${type}` };
  }
  if (held.length > 1 && isSuperAdmin(held)) {
    return { pointer: '/roles', message: 'must not combine super_admin with another role' };
  }
  if (held.length === 0 && type === 'service_account') {
    return {
      pointer: '/roles',
      message: 'must name a role: those of a service account never change',
    };
  }
  return null;
}
