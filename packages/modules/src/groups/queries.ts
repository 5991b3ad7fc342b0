import {
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { z } from 'zod';
import { foundById, resourcesById } from '../references.ts';
import { groupTable } from './projection.ts';
import type { Group, groupSearchSchema } from './schema.ts';

type GroupSearch = Partial<z.output<typeof groupSearchSchema>>;

/** The group with an id, archived ones included, without its members. 404 when there is none. */
export const getGroup = (context: RequestContext, id: string) =>
  foundById(context, groupTable, 'group', id);

/** Groups by id, archived ones included, for what shows them inside. */
export const groupsById = (context: RequestContext, ids: readonly (string | undefined)[]) =>
  resourcesById(context, groupTable, ids);

/** One page of groups, without their members. */
export const searchGroups = (context: RequestContext, search: GroupSearch): Promise<Page<Group>> =>
  context.read.list(groupTable, pageRequest(groupTable, search), [
    ...searchFilters(groupTable, search),
    ...where('id', 'in', search.group_ids),
    ...where('entity_type', 'eq', search.entity_type),
    ...where('lookup_key', 'eq', search.lookup_key),
    ...where('name', 'eq', search.name),
  ]);
