import {
  listShape,
  newRecord,
  ofTable,
  pageSchema,
  type Routes,
  route,
  searchExample,
} from '@counterfoil/engine/define';
import { invariant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../../message.ts';
import type { OfSubscriptions } from '../of-subscriptions.ts';
import { offer } from '../offer.ts';
import { entitlementExpansion } from '../owned.ts';
import { forItem, oneOwner } from '../price/references.ts';
import { entitlementTable } from '../projection.ts';
import { createEntitlements, deleteEntitlement, updateEntitlement } from './decisions.ts';
import {
  entitlementTableOf,
  foundEntitlement,
  getEntitlement,
  searchEntitlements,
} from './queries.ts';
import { entitlementDrafts, entitlementOwner, madeIds, shownEntitlements } from './references.ts';
import {
  createBulkEntitlementsSchema,
  createEntitlementSchema,
  entitlementListSchema,
  entitlementSchema,
  entitlementSearchSchema,
  updateEntitlementSchema,
} from './schema.ts';

const tag = 'Entitlements';
const idParameters = z.object({ id: referenceSchema('ent') });

const entitlementExample = {
  feature_id: newRecord('feat'),
  feature_type: 'metered',
  usage_limit: 1_000,
  entity_type: 'PLAN',
  entity_id: newRecord('plan'),
} as const;

const creatingRoutes = (of: OfSubscriptions) =>
  ({
    'POST /entitlements': route({
      summary: 'Create an entitlement',
      description:
        'What a plan or an add-on grants of a feature, at most one for each; or a subscription of its own, in the place of its `parent_entitlement_id` if it has one.',
      tag,
      status: 201,
      permission: 'entitlement:write',
      body: createEntitlementSchema,
      response: entitlementSchema,
      example: {
        body: entitlementExample,
        makes: 'ent',
        names: { parent_entitlement_id: 'ent' },
        texts: ['plan_id'],
      },
      handle: async (context, { body }) => {
        const owner = entitlementOwner(body);
        if (owner.entity_type === 'SUBSCRIPTION') {
          const [made] = await of.createEntitlements(context, owner.entity_id, [body], true);
          invariant(made, 'a command that makes an entitlement has made one');
          return made;
        }
        const written = await context.execute(offer, owner.entity_id, {
          prepare: async () =>
            createEntitlements(owner, [await entitlementDrafts(context)(body, owner)]),
        });
        const [shown] = await shownEntitlements(context, written, madeIds(written));
        invariant(shown, 'a command that makes an entitlement has made one');
        return shown;
      },
    }),

    'POST /entitlements/bulk': route({
      summary: 'Create up to 100 entitlements of one owner, all or none',
      description: '`details.index` of a refusal says which item it is about.',
      tag,
      status: 201,
      permission: 'entitlement:write',
      body: createBulkEntitlementsSchema,
      bodyLimitBytes: 1024 * 1024,
      response: z.object({ items: z.array(entitlementSchema) }).meta({ id: 'CreatedEntitlements' }),
      example: {
        body: { items: [entitlementExample] },
        names: { 'items.0.parent_entitlement_id': 'ent' },
        texts: ['items.0.plan_id'],
      },
      handle: async (context, { body: { items } }) => {
        const owner = oneOwner(items.map(entitlementOwner));
        if (owner.entity_type === 'SUBSCRIPTION') {
          const made = await of.createEntitlements(context, owner.entity_id, items, false);
          return { items: [...made] };
        }
        const written = await context.execute(offer, owner.entity_id, {
          prepare: async () => {
            const draft = entitlementDrafts(context);
            const drafts = items.map((item, index) =>
              forItem(index, () => draft(item, owner, `/items/${index}`)),
            );
            return createEntitlements(owner, await Promise.all(drafts));
          },
        });
        return { items: await shownEntitlements(context, written, madeIds(written)) };
      },
    }),
  }) satisfies Routes;

const readingRoutes = (of: OfSubscriptions) =>
  ({
    'GET /entitlements': route({
      summary: 'List entitlements',
      tag,
      status: 200,
      permission: 'entitlement:read',
      query: ofTable(
        entitlementTable,
        entitlementListSchema.extend({ ...listShape, expand: entitlementExpansion.parameter }),
      ),
      response: pageSchema(entitlementSchema),
      example: { names: { entity_ids: 'plan', plan_ids: 'plan', feature_ids: 'feat' } },
      handle: (context, { query }) =>
        searchEntitlements(context, entitlementTableOf(of, query), query),
    }),

    'POST /entitlements/search': route({
      summary: 'Search entitlements',
      tag,
      status: 200,
      permission: 'entitlement:read',
      body: ofTable(
        entitlementTable,
        entitlementSearchSchema
          .extend({ expand: entitlementExpansion.parameter })
          .meta({ id: 'EntitlementSearch' }),
      ),
      bodyOptional: true,
      response: pageSchema(entitlementSchema),
      example: {
        body: searchExample,
        names: { entity_ids: 'plan', plan_ids: 'plan', feature_ids: 'feat' },
      },
      handle: (context, { body }) =>
        searchEntitlements(context, entitlementTableOf(of, body), body),
    }),

    'GET /entitlements/{id}': route({
      summary: 'Get an entitlement',
      tag,
      status: 200,
      permission: 'entitlement:read',
      params: idParameters,
      response: entitlementSchema,
      handle: (context, { params: { id } }) => getEntitlement(context, of, id),
    }),
  }) satisfies Routes;

const changingRoutes = (of: OfSubscriptions) =>
  ({
    'PUT /entitlements/{id}': route({
      summary: 'Update an entitlement',
      description: '`usage_limit` null is unlimited, 0 is none.',
      tag,
      status: 200,
      permission: 'entitlement:write',
      params: idParameters,
      body: updateEntitlementSchema,
      response: entitlementSchema,
      example: { body: { is_enabled: false } },
      handle: async (context, { params: { id }, body }) => {
        const found = await foundEntitlement(context, of, id);
        if (found.entity_type === 'SUBSCRIPTION') return of.updateEntitlement(context, found, body);
        const written = await context.execute(offer, found.entity_id, updateEntitlement(id, body));
        const [shown] = await shownEntitlements(context, written, [id]);
        invariant(shown, 'an entitlement that was updated is there');
        return shown;
      },
    }),

    'DELETE /entitlements/{id}': route({
      summary: 'Delete an entitlement',
      description: 'Its feature may be granted anew.',
      tag,
      status: 200,
      permission: 'entitlement:write',
      params: idParameters,
      response: messageSchema,
      handle: async (context, { params: { id } }) => {
        const found = await foundEntitlement(context, of, id);
        if (found.entity_type === 'SUBSCRIPTION') await of.deleteEntitlement(context, found);
        else await context.execute(offer, found.entity_id, deleteEntitlement(id));
        return deleted('entitlement', id);
      },
    }),
  }) satisfies Routes;

/** The routes of entitlements. `of` keeps those of subscriptions. */
export const entitlementRoutes = (of: OfSubscriptions) => ({
  ...creatingRoutes(of),
  ...readingRoutes(of),
  ...changingRoutes(of),
});
