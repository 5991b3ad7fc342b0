import { type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import { notFound, referenceSchema, writable } from '@counterfoil/kernel';
import { z } from 'zod';
import { offer } from '../../offers/index.ts';
import { requestSync } from './decisions.ts';
import { planSync } from './plan-sync.ts';
import { planSyncSchema, planSyncView, startedPlanSyncSchema } from './schema.ts';

const params = z.object({ id: referenceSchema('plan') });
const common = { tag: 'Plans', status: 200, params } as const;

export const planSyncRoutes = {
  'POST /plans/{id}/sync/subscriptions': route({
    ...common,
    operationId: 'syncPlanPrices',
    summary: 'Bring all subscriptions of a plan to its prices of now',
    description: 'From now on, never back. 409 while it is under way.',
    permission: 'plan:write',
    response: startedPlanSyncSchema,
    example: {},
    handle: async (context, { params: { id } }) => {
      const plan = writable(await existingPlan(context, id), 'plan', id);
      const sync = context.newId('psync');
      const { state } = await context.execute(planSync, plan.id, requestSync(sync, plan.id));
      return {
        message: 'The subscriptions of the plan are being brought to its prices.',
        workflow_id: state?.id ?? sync,
        run_id: state?.id ?? sync,
      };
    },
  }),

  'GET /plans/{id}/sync/subscriptions': route({
    ...common,
    operationId: 'getPlanSync',
    summary: 'Get the latest synchronisation of the subscriptions of a plan',
    permission: 'plan:read',
    response: planSyncSchema,
    handle: async (context, { params: { id } }) => {
      const { id: planId } = await existingPlan(context, id);
      return planSyncView(planId, await context.load(planSync, planId));
    },
  }),
} satisfies Routes;

/** The plan itself, archived ones included. Throws 404. */
async function existingPlan(context: RequestContext, id: string) {
  const plan = await context.load(offer, id);
  if (plan?.root.kind !== 'PLAN') throw notFound('plan', id);
  return plan.root.record;
}
