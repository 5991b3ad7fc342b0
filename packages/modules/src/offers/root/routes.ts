import {
  listShape,
  newText,
  ofTable,
  type Projection,
  pageSchema,
  type Route,
  type Routes,
  route,
  WithETag,
  withETag,
} from '@counterfoil/engine/define';
import { type IdPrefix, metadataSchema, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { messageSchema } from '../../message.ts';
import {
  accepted,
  equalTo,
  foundById,
  oneOf,
  recordRoutes,
  withMetadata,
} from '../../record/index.ts';
import { searchEntitlements } from '../entitlement/queries.ts';
import { entitlementSchema } from '../entitlement/schema.ts';
import { searchCreditGrants } from '../grant/queries.ts';
import { creditGrantSchema } from '../grant/schema.ts';
import { addonOf, costsheetOf, offer, planOf } from '../offer.ts';
import {
  addonTable,
  costsheetTable,
  creditGrantTable,
  entitlementTable,
  planTable,
} from '../projection.ts';
import { addonView, costsheetView, planView, wholePlanView } from '../views.ts';
import { clonePlan } from './clone.ts';
import { costsheetFilters, flattened, nothingElsewhere } from './costsheet-search.ts';
import {
  archiveAddon,
  archivePlan,
  createAddon,
  createCostsheet,
  createPlan,
  deleteCostsheet,
  updateAddon,
  updateCostsheet,
  updatePlan,
} from './decisions.ts';
import {
  activeCostsheet,
  everything,
  expandCostsheet,
  expandedParts,
  expandOffer,
  pricesOnly,
  withOwned,
} from './queries.ts';
import { addonRoot, costsheetRoot, planRoot } from './roots.ts';
import {
  addonSchema,
  clonePlanSchema,
  costsheetAnswerSchema,
  costsheetSchema,
  createAddonSchema,
  createCostsheetSchema,
  createPlanSchema,
  planSchema,
  updateAddonSchema,
  updateCostsheetSchema,
  updatePlanSchema,
} from './schema.ts';

/** The routes that list what plans and add-ons own. */
function ownedRoutes<Prefix extends IdPrefix, Row, Resource>(
  { called, prefix }: { readonly called: string; readonly prefix: Prefix },
  table: Projection<string, Row, Resource>,
  tag: string,
) {
  const of = `${called === 'plan' ? 'a' : 'an'} ${called}`;
  const common = {
    tag,
    status: 200,
    params: z.object({ id: referenceSchema(prefix) }),
  } as const;
  return {
    entitlements: route({
      ...common,
      query: ofTable(entitlementTable, z.object(listShape)),
      summary: `List the entitlements of ${of}`,
      permission: 'entitlement:read',
      response: pageSchema(entitlementSchema),
      handle: async (context, { params: { id }, query }) => {
        await foundById(context, table, called, id);
        return searchEntitlements(context, entitlementTable, { ...query, entity_ids: [id] });
      },
    }),
    creditGrants: route({
      ...common,
      query: ofTable(creditGrantTable, z.object(listShape)),
      summary: `List the credit grants of ${of}`,
      permission: 'creditgrant:read',
      response: pageSchema(creditGrantSchema),
      handle: async (context, { params: { id }, query }) => {
        await foundById(context, table, called, id);
        return searchCreditGrants(context, creditGrantTable, { ...query, offer_ids: [id] });
      },
    }),
  };
}

const common = { aggregate: offer, unique: { field: 'lookup_key' } } as const;
const beginsEmpty = 'It begins empty: prices, entitlements and credit grants are added one by one.';

const plans = recordRoutes(
  {
    ...{ ...common, ...planRoot, schema: planSchema, table: planTable },
    view: (state) => planView(planOf(state)),
  },
  {
    ...{ tag: 'Plans', right: 'plan' },
    embedding: {
      read: (context, found, search) =>
        withOwned(context, found, search ? expandedParts(search) : everything),
    },
  },
);
const ownedByPlans = ownedRoutes(planRoot, planTable, 'Plans');

const planFilters = {
  lookup_key: equalTo('lookup_key', z.string().max(255)),
  plan_ids: oneOf('id', 64),
  expand: accepted(expandOffer),
} as const;

const planRoutes = {
  'POST /plans': plans.create({
    description: beginsEmpty,
    body: createPlanSchema,
    example: {
      body: { name: newText('Pro'), lookup_key: newText('pro'), description: newText('For teams') },
    },
    decide: createPlan,
  }),
  'GET /plans': plans.list(planFilters),
  'POST /plans/search': plans.search('PlanSearch', {
    ...planFilters,
    metadata: withMetadata(metadataSchema.optional()),
  }),
  'GET /plans/{id}': plans.get({
    summary: 'Get a plan with its prices, entitlements and credit grants',
  }),
  'PUT /plans/{id}': plans.change({
    description: 'Its prices, entitlements and credit grants stay.',
    body: updatePlanSchema,
    example: { body: { description: newText('For large teams') } },
    decide: updatePlan,
  }),
  'POST /plans/{id}/clone': route({
    summary: 'Clone a plan',
    description:
      'Copies prices that have not ended, without lookup_keys, entitlements and credit grants under new ids. The name must differ from that of the source, which `metadata.source_plan_id` names.',
    tag: 'Plans',
    status: 201,
    permission: 'plan:write',
    params: z.object({ id: referenceSchema('plan') }),
    body: clonePlanSchema,
    response: planSchema,
    example: { body: { name: newText('Pro'), lookup_key: newText('pro') } },
    handle: async (context, { params, body }) => {
      const id = context.newId('plan');
      const { state, revision } = await context.execute(offer, id, {
        prepare: async () => {
          const source = await context.load(offer, params.id);
          if (!source || !planOf(source)) throw notFound('plan', params.id);
          return clonePlan(id, source, body);
        },
      });
      return withETag(wholePlanView(state), revision);
    },
  }),
  'GET /plans/{id}/entitlements': ownedByPlans.entitlements,
  'GET /plans/{id}/creditgrants': ownedByPlans.creditGrants,
  'DELETE /plans/{id}': plans.endWithMessage({
    description: 'With all that it owns; the lookup_keys of its prices are free again too.',
    decide: archivePlan,
  }),
} satisfies Routes;

const addons = recordRoutes(
  {
    ...{ ...common, ...addonRoot, schema: addonSchema, table: addonTable },
    view: (state) => addonView(addonOf(state)),
  },
  {
    ...{ tag: 'Add-ons', right: 'addon' },
    embedding: {
      read: (context, found, search) =>
        withOwned(context, found, search ? expandedParts(search) : everything),
    },
  },
);
const ownedByAddons = ownedRoutes(addonRoot, addonTable, 'Add-ons');

const addonFilters = {
  addon_ids: oneOf('id', 64),
  lookup_keys: oneOf('lookup_key', 255),
  expand: accepted(expandOffer),
} as const;

const addonRoutes = {
  'POST /addons': addons.create({
    description: beginsEmpty,
    body: createAddonSchema,
    example: { body: { name: newText('Support'), lookup_key: newText('support') } },
    decide: createAddon,
  }),
  'GET /addons': addons.list(addonFilters),
  'POST /addons/search': addons.search('AddonSearch', addonFilters),
  'GET /addons/lookup/{lookup_key}': addons.getBy('lookup_key'),
  'GET /addons/{id}': addons.get({
    summary: 'Get an add-on with its prices, entitlements and credit grants',
  }),
  'PUT /addons/{id}': addons.change({
    description: 'The lookup_key is for ever.',
    body: updateAddonSchema,
    example: { body: { name: newText('Renamed') } },
    decide: updateAddon,
  }),
  'GET /addons/{id}/entitlements': ownedByAddons.entitlements,
  'GET /addons/{id}/creditgrants': ownedByAddons.creditGrants,
  'DELETE /addons/{id}': addons.endWithMessage({
    description: 'It is archived with all that it owns; its lookup_key is free again.',
    decide: archiveAddon,
  }),
} satisfies Routes;

const costsheets = recordRoutes(
  {
    ...{ ...common, ...costsheetRoot, schema: costsheetSchema, table: costsheetTable },
    view: (state) => costsheetView(costsheetOf(state)),
  },
  {
    ...{ tag: 'Costsheets', right: 'cost' },
    embedding: {
      read: (context, found, search) =>
        withOwned(context, found, search ? expandedParts(search) : pricesOnly),
    },
  },
);

const searchCostsheets = costsheets.search('CostsheetSearch', costsheetFilters);

/** The route with its costsheet in a member of the answer, where the public contract has it. */
const inMember = <Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>({
  handle,
  ...rest
}: Route<Params, Query, Body, typeof costsheetSchema>) =>
  route<Params, Query, Body, typeof costsheetAnswerSchema>({
    ...rest,
    response: costsheetAnswerSchema,
    handle: async (context, input) => {
      const answer = await handle(context, input);
      return answer instanceof WithETag
        ? withETag({ costsheet: answer.body }, answer.revision)
        : answer && { costsheet: answer };
    },
  });

const costsheetRoutes = {
  'POST /costs': inMember(
    costsheets.create({
      description: 'What the tenant itself pays: a set of prices. The newest one is active.',
      body: createCostsheetSchema,
      example: {
        body: { name: newText('Tokens'), lookup_key: newText('tokens') },
        madeIn: 'costsheet',
      },
      decide: createCostsheet,
    }),
  ),
  'POST /costs/search': route({
    ...searchCostsheets,
    handle: async (context, { body, ...rest }) => {
      const search = flattened(body);
      const nothing = nothingElsewhere(context, search);
      return nothing ?? searchCostsheets.handle(context, { ...rest, body: search });
    },
  }),
  'GET /costs/active': route({
    operationId: 'getActiveCostsheet',
    summary: 'Get the active costsheet',
    description: 'The newest that is published, with its prices.',
    tag: 'Costsheets',
    status: 200,
    permission: 'cost:read',
    response: costsheetSchema,
    example: { needs: ['cost'] },
    handle: async (context) => {
      const { resource, revision } = await activeCostsheet(context);
      return withETag(resource, revision);
    },
  }),
  'GET /costs/{id}': inMember(
    costsheets.get({
      summary: 'Get a costsheet with its prices',
      query: z.object({ expand: expandCostsheet }),
    }),
  ),
  'PUT /costs/{id}': inMember(
    costsheets.change({
      description: 'Its prices stay.',
      body: updateCostsheetSchema,
      example: { body: { name: newText('Renamed') } },
      decide: updateCostsheet,
    }),
  ),
  'DELETE /costs/{id}': route({
    summary: 'Delete a costsheet',
    description: 'With its prices.',
    tag: 'Costsheets',
    status: 200,
    permission: 'cost:write',
    params: z.object({ id: referenceSchema('cost') }),
    response: messageSchema.extend({ id: z.string() }).meta({ id: 'DeletedCostsheet' }),
    handle: async (context, { params: { id } }) => {
      await context.execute(offer, id, deleteCostsheet(id));
      return { id, message: `The costsheet ${id} is deleted.` };
    },
  }),
} satisfies Routes;

/** The routes of plans, add-ons and costsheets themselves. */
export const rootRoutes = { ...planRoutes, ...addonRoutes, ...costsheetRoutes } satisfies Routes;
