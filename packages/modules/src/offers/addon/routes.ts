import {
  listShape,
  newRecord,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../../message.ts';
import { foundById } from '../../record/index.ts';
import { refuseWhileInUse, type Use } from '../../uses.ts';
import { searchEntitlements } from '../entitlement/queries.ts';
import { entitlementSchema } from '../entitlement/schema.ts';
import { searchCreditGrants } from '../grant/queries.ts';
import { creditGrantSchema } from '../grant/schema.ts';
import { addonOf, offer } from '../offer.ts';
import { addonTable } from '../projection.ts';
import { archiveAddon, createAddon, updateAddon } from '../root-decisions.ts';
import { getAddon, getAddonByLookupKey, searchAddons } from '../root-queries.ts';
import {
  addonListSchema,
  addonSchema,
  addonSearchSchema,
  createAddonSchema,
  updateAddonSchema,
} from '../root-schema.ts';
import { addonView } from '../views.ts';

const tag = 'Add-ons';
const idParameters = z.object({ id: referenceSchema('addon') });
const pageQuery = z.object(listShape);

const routes = {
  'POST /addons': route({
    summary: 'Create an add-on',
    description: 'It begins empty: prices, entitlements and credit grants are added one by one.',
    tag,
    status: 201,
    permission: 'addon:write',
    body: createAddonSchema,
    response: addonSchema,
    example: { body: { name: newText('Support'), lookup_key: newText('support') }, makes: 'addon' },
    handle: async (context, { body }) => {
      const id = context.newId('addon');
      const { state, revision } = await context.execute(offer, id, createAddon(id, body));
      return withETag(addonView(addonOf(state)), revision);
    },
  }),

  'GET /addons': route({
    summary: 'List add-ons',
    tag,
    status: 200,
    permission: 'addon:read',
    query: addonListSchema.extend(listShape),
    response: pageSchema(addonSchema),
    example: { names: { addon_ids: 'addon' } },
    handle: (context, { query }) => searchAddons(context, query),
  }),

  'POST /addons/search': route({
    summary: 'Search add-ons',
    tag,
    status: 200,
    permission: 'addon:read',
    body: addonSearchSchema,
    bodyOptional: true,
    response: pageSchema(addonSchema),
    example: { names: { addon_ids: 'addon' } },
    handle: (context, { body }) => searchAddons(context, body),
  }),

  'GET /addons/lookup/{lookup_key}': route({
    summary: 'Get an add-on by its lookup_key',
    tag,
    status: 200,
    permission: 'addon:read',
    params: z.object({ lookup_key: z.string().max(255) }),
    response: addonSchema,
    example: { params: { lookup_key: newRecord('addon', 'lookup_key') } },
    handle: async (context, { params: { lookup_key } }) => {
      const { resource, revision } = await getAddonByLookupKey(context, lookup_key);
      return withETag(resource, revision);
    },
  }),

  'GET /addons/{id}': route({
    summary: 'Get an add-on with its prices, entitlements and credit grants',
    tag,
    status: 200,
    permission: 'addon:read',
    params: idParameters,
    response: addonSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getAddon(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /addons/{id}': route({
    summary: 'Update an add-on',
    description: 'Only fields that are given change. The lookup_key is for ever.',
    tag,
    status: 200,
    permission: 'addon:write',
    params: idParameters,
    body: updateAddonSchema,
    response: addonSchema,
    example: { body: { name: newText('Renamed') } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(offer, id, updateAddon(id, body));
      return withETag(addonView(addonOf(state)), revision);
    },
  }),

  'GET /addons/{id}/entitlements': route({
    summary: 'List the entitlements of an add-on',
    tag,
    status: 200,
    permission: 'entitlement:read',
    params: idParameters,
    query: pageQuery,
    response: pageSchema(entitlementSchema),
    handle: async (context, { params: { id }, query }) => {
      await foundById(context, addonTable, 'add-on', id);
      return searchEntitlements(context, { ...query, entity_ids: [id] });
    },
  }),

  'GET /addons/{id}/creditgrants': route({
    summary: 'List the credit grants of an add-on',
    tag,
    status: 200,
    permission: 'creditgrant:read',
    params: idParameters,
    query: pageQuery,
    response: pageSchema(creditGrantSchema),
    handle: async (context, { params: { id }, query }) => {
      await foundById(context, addonTable, 'add-on', id);
      return searchCreditGrants(context, { ...query, offer_ids: [id] });
    },
  }),
} satisfies Routes;

const deletion = (uses: readonly Use<'addon'>[]) =>
  route({
    summary: 'Delete an add-on',
    description: 'It is archived with all that it owns; its lookup_key is free again.',
    tag,
    status: 200,
    permission: 'addon:write',
    params: idParameters,
    response: messageSchema,
    handle: async (context, { params: { id } }) => {
      await context.execute(offer, id, {
        prepare: async () => {
          await refuseWhileInUse(context, 'add-on', id, uses);
          return archiveAddon(id);
        },
      });
      return deleted('add-on', id);
    },
  });

/** The routes of add-ons. `uses` are asked before an add-on is deleted. */
export const addonRoutes = (uses: readonly Use<'addon'>[]) =>
  ({ ...routes, 'DELETE /addons/{id}': deletion(uses) }) satisfies Routes;
