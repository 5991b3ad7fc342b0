import {
  type AskingContext,
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import { environment } from './environment.ts';
import { apiKeyTable, environmentTable, tenantTable, userTable } from './projection.ts';
import { isSuperAdmin } from './roles.ts';
import type {
  ApiKey,
  apiKeyListSchema,
  environmentListSchema,
  environmentsSchema,
  Tenant,
  User,
  UserWithoutTenant,
  userSearchSchema,
} from './schema.ts';
import { tenant, tenantView } from './tenant.ts';

/** The caller's own tenant; any other id is 404 (D14). */
export async function getTenant(context: RequestContext, id: string): Promise<Found<Tenant>> {
  const found = await context.read.find(tenantTable, id);
  if (!found) throw notFound('tenant', id);
  return found;
}

/** One page of the tenant's environments, in the form of the public contract. */
export async function listEnvironments(
  context: RequestContext,
  query: z.output<typeof environmentListSchema>,
): Promise<z.output<typeof environmentsSchema>> {
  const filters = searchFilters(environmentTable, query);
  const request = pageRequest(environmentTable, query);
  const { items, pagination } = await context.read.list(environmentTable, request, filters);
  return { environments: items, ...pagination };
}

/** The time zone of records in the environment of a context that have none of their own (D50). */
export const defaultTimeZone = async (
  context: Pick<AskingContext, 'load' | 'principal'>,
): Promise<string> =>
  (await context.load(environment, context.principal.environmentId))?.timezone ?? 'UTC';

/** The tenant of the caller, from the log and so never behind. */
export const ownTenant = async (
  context: Pick<AskingContext, 'load' | 'principal'>,
): Promise<Tenant> => tenantView(await context.load(tenant, context.principal.tenantId));

/** A user of the caller's tenant as the API shows it: with the tenant, from the log. */
export const withTenant = async (
  context: RequestContext,
  user: UserWithoutTenant,
): Promise<User> => ({ ...user, tenant: await ownTenant(context) });

/** The users of the caller's tenant with some ids, by id. Ids of nobody are left out. */
export async function usersById(
  context: AskingContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, User>> {
  const found = await context.read.findMany(userTable, ids);
  if (found.size === 0) return new Map();
  const own = await ownTenant(context);
  return new Map([...found].map(([id, user]) => [id, { ...user, tenant: own }]));
}

/** One page of the tenant's users. */
export async function searchUsers(
  context: RequestContext,
  search: Omit<z.output<typeof userSearchSchema>, 'expand'>,
): Promise<Page<User>> {
  const { items, pagination } = await context.read.list(userTable, pageRequest(userTable, search), [
    ...searchFilters(userTable, search),
    ...where('id', 'in', search.user_ids),
    ...where('type', 'eq', search.type),
    ...where('roles', 'in', search.roles),
  ]);
  const own = await ownTenant(context);
  return { items: items.map((user) => ({ ...user, tenant: own })), pagination };
}

/** One page of keys, masked: the caller's own, or all of the environment for a super_admin. */
export const listApiKeys = (
  context: RequestContext,
  search: z.output<typeof apiKeyListSchema>,
): Promise<Page<ApiKey>> => {
  const { roles, userId } = context.principal;
  return context.read.list(apiKeyTable, pageRequest(apiKeyTable, search), [
    ...searchFilters(apiKeyTable, search),
    ...where('user_id', 'eq', isSuperAdmin(roles) ? undefined : userId),
  ]);
};
