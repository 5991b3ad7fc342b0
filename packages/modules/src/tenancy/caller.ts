import type { RequestContext } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import type { Role } from './roles.ts';
import { type Granter, type UserRecord, user } from './user.ts';

/** The user of the calling key, from the log and so never behind. */
export const callingUser = async (context: RequestContext): Promise<UserRecord> =>
  existing(await context.load(user, context.principal.userId), 'calling user');

/** The caller as one who decides about others. */
export const granterOf = ({ principal }: RequestContext): Granter => ({
  userId: principal.userId,
  // The principal comes from the key registry, which knows no other roles.
  roles: principal.roles as readonly Role[],
});
