import {
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { MeterId } from '@counterfoil/kernel';
import type { z } from 'zod';
import type { GroupMembers } from '../groups/index.ts';
import { foundById, resourcesById } from '../references.ts';
import { countOf, type Use } from '../uses.ts';
import { embedded } from './embedding.ts';
import { featureTable } from './projection.ts';
import type { Feature, featureSearchSchema } from './schema.ts';

type FeatureSearch = Partial<z.output<typeof featureSearchSchema>>;

/** The feature with an id, archived ones included. 404 when there is none. */
export async function getFeature(context: RequestContext, id: string): Promise<Found<Feature>> {
  const { resource, revision } = await foundById(context, featureTable, 'feature', id);
  const [shown = resource] = await embedded(context, [resource]);
  return { resource: shown, revision };
}

/** Features by id with meters and groups, archived ones included, for what shows them inside. */
export async function featuresById(
  context: RequestContext,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, Feature>> {
  const found = await resourcesById(context, featureTable, ids);
  const shown = await embedded(context, [...found.values()]);
  return new Map(shown.map((each) => [each.id, each]));
}

/** One page of features. */
export async function searchFeatures(
  context: RequestContext,
  search: FeatureSearch,
): Promise<Page<Feature>> {
  const page = await context.read.list(featureTable, pageRequest(featureTable, search), [
    ...searchFilters(featureTable, search),
    ...where('id', 'in', search.feature_ids),
    ...where('lookup_key', 'in', search.lookup_keys),
    ...where('lookup_key', 'eq', search.lookup_key),
    ...where('meter_id', 'in', search.meter_ids),
    ...where('name', 'contains', search.name_contains),
  ]);
  return { ...page, items: await embedded(context, page.items) };
}

/** Tells whether a published feature other than `except` uses a meter. */
export async function isMeterShared(
  context: RequestContext,
  meterId: MeterId,
  except: string,
): Promise<boolean> {
  const page = { limit: 2, offset: 0 };
  const { items } = await context.read.list(featureTable, page, where('meter_id', 'eq', meterId));
  return items.some(({ id }) => id !== except);
}

/** Returns how many published features use a meter, in words; null for none. */
export const featuresOfMeter: Use<'meter'> = async (context, meterId) => {
  const page = { limit: 1, offset: 0 };
  const used = where('meter_id', 'eq', meterId);
  const { pagination } = await context.read.list(featureTable, page, used);
  return countOf(pagination.total, 'feature');
};

/** The published features of a group. */
export const featuresOfGroup: GroupMembers = {
  entityType: 'feature',
  membersOf: async (context, groupId) => {
    const page = { limit: 1000, offset: 0 };
    const members = where('group_id', 'eq', groupId);
    const { items, pagination } = await context.read.list(featureTable, page, members);
    return { ids: items.map(({ id }) => id), total: pagination.total };
  },
};
