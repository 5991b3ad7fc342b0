import {
  listShape,
  newRecord,
  newText,
  ofTable,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { existing, invariant, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { messageSchema } from '../../message.ts';
import { offer } from '../offer.ts';
import type { Owner } from '../owner.ts';
import { creditGrantTable } from '../projection.ts';
import { recordWith } from '../records.ts';
import { creditGrantView } from '../views.ts';
import { createCreditGrant, endCreditGrant, updateCreditGrant } from './decisions.ts';
import { getCreditGrant, searchCreditGrants } from './queries.ts';
import {
  type CreateCreditGrant,
  createCreditGrantSchema,
  creditGrantListSchema,
  creditGrantSchema,
  endCreditGrantSchema,
  updateCreditGrantSchema,
} from './schema.ts';

const tag = 'Credit grants';
const idParameters = z.object({ id: referenceSchema('cg') });

/** The offer that a grant is to belong to, and what the request calls its id. */
function grantOwner(body: CreateCreditGrant): { readonly owner: Owner; readonly field: string } {
  const { scope, plan_id, addon_id, subscription_id } = body;
  switch (scope) {
    case 'PLAN':
      return { owner: { entity_type: 'PLAN', entity_id: plan_id ?? '' }, field: 'plan_id' };
    case 'ADDON':
      return { owner: { entity_type: 'ADDON', entity_id: addon_id ?? '' }, field: 'addon_id' };
    case 'SUBSCRIPTION':
      throw notFound('subscription', subscription_id ?? '', 'subscription_id');
    default:
      return scope satisfies never;
  }
}

async function ownerOf(context: RequestContext, id: string): Promise<string> {
  const { plan_id, addon_id } = (await getCreditGrant(context, id)).resource;
  return plan_id ?? addon_id ?? '';
}

export const creditGrantRoutes = {
  'POST /creditgrants': route({
    summary: 'Create a credit grant of a plan or an add-on',
    description: 'Credits that each subscription gets, once or with every period.',
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
      const { owner, field } = grantOwner(body);
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
    handle: (context, { query }) => searchCreditGrants(context, query),
  }),

  'GET /creditgrants/{id}': route({
    summary: 'Get a credit grant',
    tag,
    status: 200,
    permission: 'creditgrant:read',
    params: idParameters,
    response: creditGrantSchema,
    handle: async (context, { params: { id } }) => (await getCreditGrant(context, id)).resource,
  }),

  'PUT /creditgrants/{id}': route({
    summary: 'Update a credit grant',
    description: 'Its name and metadata.',
    tag,
    status: 200,
    permission: 'creditgrant:write',
    params: idParameters,
    body: updateCreditGrantSchema,
    response: creditGrantSchema,
    example: { body: { name: newText('Renamed') } },
    handle: async (context, { params: { id }, body }) => {
      const owner = await ownerOf(context, id);
      const { state } = await context.execute(offer, owner, updateCreditGrant(id, body));
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
      const owner = await ownerOf(context, id);
      const { state } = await context.execute(
        offer,
        owner,
        endCreditGrant(id, body.effective_date ?? null),
      );
      const end = recordWith(existing(state, 'offer').credit_grants, id)?.end_date;
      return { message: `The credit grant ${id} stops at ${end}.` };
    },
  }),
} satisfies Routes;
