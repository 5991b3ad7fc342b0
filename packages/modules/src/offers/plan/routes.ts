import {
  listShape,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../../message.ts';
import { foundById } from '../../record/index.ts';
import { refuseWhileInUse, type Use } from '../../uses.ts';
import { searchEntitlements } from '../entitlement/queries.ts';
import { entitlementSchema } from '../entitlement/schema.ts';
import { searchCreditGrants } from '../grant/queries.ts';
import { creditGrantSchema } from '../grant/schema.ts';
import { offer, planOf } from '../offer.ts';
import { planTable } from '../projection.ts';
import { archivePlan, createPlan, updatePlan } from '../root-decisions.ts';
import { getPlan, searchPlans } from '../root-queries.ts';
import {
  clonePlanSchema,
  createPlanSchema,
  planListSchema,
  planSchema,
  planSearchSchema,
  updatePlanSchema,
} from '../root-schema.ts';
import { planView, wholePlanView } from '../views.ts';
import { clonePlan } from './clone.ts';

const tag = 'Plans';
const idParameters = z.object({ id: referenceSchema('plan') });
const pageQuery = z.object(listShape);

const routes = {
  'POST /plans': route({
    summary: 'Create a plan',
    description: 'It begins empty: prices, entitlements and credit grants are added one by one.',
    tag,
    status: 201,
    permission: 'plan:write',
    body: createPlanSchema,
    response: planSchema,
    example: {
      body: { name: newText('Pro'), lookup_key: newText('pro'), description: newText('For teams') },
      makes: 'plan',
    },
    handle: async (context, { body }) => {
      const id = context.newId('plan');
      const { state, revision } = await context.execute(offer, id, createPlan(id, body));
      return withETag(planView(planOf(state)), revision);
    },
  }),

  'GET /plans': route({
    summary: 'List plans',
    tag,
    status: 200,
    permission: 'plan:read',
    query: planListSchema.extend(listShape),
    response: pageSchema(planSchema),
    example: { names: { plan_ids: 'plan' } },
    handle: (context, { query }) => searchPlans(context, query),
  }),

  'POST /plans/search': route({
    summary: 'Search plans',
    tag,
    status: 200,
    permission: 'plan:read',
    body: planSearchSchema,
    bodyOptional: true,
    response: pageSchema(planSchema),
    example: { names: { plan_ids: 'plan' } },
    handle: (context, { body }) => searchPlans(context, body),
  }),

  'GET /plans/{id}': route({
    summary: 'Get a plan with its prices, entitlements and credit grants',
    tag,
    status: 200,
    permission: 'plan:read',
    params: idParameters,
    response: planSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getPlan(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /plans/{id}': route({
    summary: 'Update a plan',
    description: 'Only fields that are given change; `""` and null clear an optional text.',
    tag,
    status: 200,
    permission: 'plan:write',
    params: idParameters,
    body: updatePlanSchema,
    response: planSchema,
    example: { body: { description: newText('For large teams') } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(offer, id, updatePlan(id, body));
      return withETag(planView(planOf(state)), revision);
    },
  }),

  'POST /plans/{id}/clone': route({
    summary: 'Clone a plan',
    description:
      'Copies the prices that have not ended, the entitlements and the credit grants, all or ' +
      'nothing, under new ids. The name must differ from that of the source; lookup_keys of ' +
      'prices are not copied. `metadata.source_plan_id` names the source.',
    tag,
    status: 201,
    permission: 'plan:write',
    params: idParameters,
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

  'GET /plans/{id}/entitlements': route({
    summary: 'List the entitlements of a plan',
    tag,
    status: 200,
    permission: 'entitlement:read',
    params: idParameters,
    query: pageQuery,
    response: pageSchema(entitlementSchema),
    handle: async (context, { params: { id }, query }) => {
      await foundById(context, planTable, 'plan', id);
      return searchEntitlements(context, { ...query, entity_ids: [id] });
    },
  }),

  'GET /plans/{id}/creditgrants': route({
    summary: 'List the credit grants of a plan',
    tag,
    status: 200,
    permission: 'creditgrant:read',
    params: idParameters,
    query: pageQuery,
    response: pageSchema(creditGrantSchema),
    handle: async (context, { params: { id }, query }) => {
      await foundById(context, planTable, 'plan', id);
      return searchCreditGrants(context, { ...query, offer_ids: [id] });
    },
  }),
} satisfies Routes;

const deletion = (uses: readonly Use<'plan'>[]) =>
  route({
    summary: 'Delete a plan',
    description:
      'It is archived with all that it owns: readable by id, out of lists, no longer writable; ' +
      'its lookup_key and those of its prices are free again.',
    tag,
    status: 200,
    permission: 'plan:write',
    params: idParameters,
    response: messageSchema,
    handle: async (context, { params: { id } }) => {
      await context.execute(offer, id, {
        prepare: async () => {
          await refuseWhileInUse(context, 'plan', id, uses);
          return archivePlan(id);
        },
      });
      return deleted('plan', id);
    },
  });

/** The routes of plans. `uses` are asked before a plan is deleted. */
export const planRoutes = (uses: readonly Use<'plan'>[]) =>
  ({ ...routes, 'DELETE /plans/{id}': deletion(uses) }) satisfies Routes;
