import {
  listShape,
  newRecord,
  newText,
  ofTable,
  pageSchema,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { existing, type Instant, invariant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { messageSchema } from '../../message.ts';
import type { OfSubscriptions } from '../of-subscriptions.ts';
import { offer } from '../offer.ts';
import { creditGrantTable } from '../projection.ts';
import { recordWith } from '../records.ts';
import { creditGrantView } from '../views.ts';
import { createCreditGrant, endCreditGrant, updateCreditGrant } from './decisions.ts';
import { creditGrantTableOf, getCreditGrant, searchCreditGrants } from './queries.ts';
import {
  type CreateCreditGrant,
  type CreditGrant,
  createCreditGrantSchema,
  creditGrantListSchema,
  creditGrantSchema,
  endCreditGrantSchema,
  updateCreditGrantSchema,
} from './schema.ts';

const tag = 'Credit grants';
const idParameters = z.object({ id: referenceSchema('cg') });

/** The offer that a grant is to belong to, and what the request calls its id. */
const offerOf = ({ scope, plan_id, addon_id }: CreateCreditGrant) =>
  scope === 'PLAN'
    ? ({ owner: { entity_type: 'PLAN', entity_id: plan_id ?? '' }, field: 'plan_id' } as const)
    : ({ owner: { entity_type: 'ADDON', entity_id: addon_id ?? '' }, field: 'addon_id' } as const);

const ownerOf = ({ plan_id, addon_id }: CreditGrant): string => plan_id ?? addon_id ?? '';

const creatingRoutes = (of: OfSubscriptions) =>
  ({
    'POST /creditgrants': route({
      summary: 'Create a credit grant of a plan, an add-on or a subscription',
      description:
        'Credits, once or with every period: for each subscription of the plan or add-on to come, or for one subscription from `start_date` on, default now.',
      tag,
      status: 201,
      permission: 'creditgrant:write',
      body: createCreditGrantSchema,
      response: creditGrantSchema,
      example: {
        body: {
          name: newText('Welcome'),
          scope: 'PLAN',
          plan_id: newRecord('plan'),
          credits: '100',
          cadence: 'ONETIME',
        },
        makes: 'cg',
        texts: ['addon_id', 'subscription_id'],
      },
      handle: async (context, { body }) => {
        if (body.scope === 'SUBSCRIPTION') {
          return of.createGrant(context, body.subscription_id ?? '', body);
        }
        const { owner, field } = offerOf(body);
        const { state, events } = await context.execute(
          offer,
          owner.entity_id,
          createCreditGrant(owner, field, body),
        );
        const [created] = events;
        invariant(created?.type === 'CreditGrantCreated', 'a grant that is created has its event');
        return creditGrantView(recordWith(existing(state, 'offer').credit_grants, created.data.id));
      },
    }),

    'GET /creditgrants': route({
      summary: 'List credit grants',
      tag,
      status: 200,
      permission: 'creditgrant:read',
      query: ofTable(creditGrantTable, creditGrantListSchema.extend(listShape)),
      response: pageSchema(creditGrantSchema),
      example: { names: { plan_ids: 'plan' }, texts: ['subscription_ids'] },
      handle: (context, { query }) =>
        searchCreditGrants(context, creditGrantTableOf(of, query), query),
    }),

    'GET /creditgrants/{id}': route({
      summary: 'Get a credit grant',
      tag,
      status: 200,
      permission: 'creditgrant:read',
      params: idParameters,
      response: creditGrantSchema,
      handle: (context, { params: { id } }) => getCreditGrant(context, of, id),
    }),
  }) satisfies Routes;

const changingRoutes = (of: OfSubscriptions) =>
  ({
    'PUT /creditgrants/{id}': route({
      summary: 'Update a credit grant',
      description: 'Its name and metadata; of a subscription its end too.',
      tag,
      status: 200,
      permission: 'creditgrant:write',
      params: idParameters,
      body: updateCreditGrantSchema,
      response: creditGrantSchema,
      example: { body: { name: newText('Renamed') } },
      handle: async (context, { params: { id }, body }) => {
        const found = await getCreditGrant(context, of, id);
        if (found.scope === 'SUBSCRIPTION') return of.updateGrant(context, found, body);
        const { state } = await context.execute(offer, ownerOf(found), updateCreditGrant(id, body));
        return creditGrantView(recordWith(existing(state, 'offer').credit_grants, id));
      },
    }),

    'DELETE /creditgrants/{id}': route({
      summary: 'Stop a credit grant, now or from a later date on',
      description: 'What has been granted stays. It is archived when it stops now.',
      tag,
      status: 200,
      permission: 'creditgrant:write',
      params: idParameters,
      body: endCreditGrantSchema,
      bodyOptional: true,
      response: messageSchema,
      example: { body: {} },
      handle: async (context, { params: { id }, body }) => {
        const found = await getCreditGrant(context, of, id);
        const effective = body.effective_date ?? null;
        const stops = (end: Instant | null | undefined) => ({
          message: `The credit grant ${id} stops at ${end}.`,
        });
        if (found.scope === 'SUBSCRIPTION')
          return stops(await of.endGrant(context, found, effective));
        const end = endCreditGrant(id, effective);
        const { state } = await context.execute(offer, ownerOf(found), end);
        return stops(recordWith(existing(state, 'offer').credit_grants, id)?.end_date);
      },
    }),
  }) satisfies Routes;

/** The routes of credit grants. `of` keeps those of subscriptions. */
export const creditGrantRoutes = (of: OfSubscriptions) => ({
  ...creatingRoutes(of),
  ...changingRoutes(of),
});
