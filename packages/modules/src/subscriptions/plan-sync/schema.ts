import { instantSchema, type PlanId, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { keptFailures, type PlanSyncState } from './plan-sync.ts';

const workflow_id = z.string().meta({ description: 'The synchronisation' });
const count = (description: string) => z.number().int().meta({ description });

export const startedPlanSyncSchema = z
  .object({ message: z.string(), workflow_id, run_id: z.string() })
  .meta({ id: 'StartedPlanSync' });

/** The wire form of the latest synchronisation of a plan. */
export const planSyncSchema = z
  .object({
    workflow_id: workflow_id.optional(),
    run_id: z.string().optional(),
    plan_id: referenceSchema('plan'),
    state: z
      .enum(['none', 'running', 'completed'])
      .meta({ description: '`none`: never asked for' }),
    requested_at: instantSchema
      .optional()
      .meta({ description: 'The prices of this instant count' }),
    completed_at: instantSchema.optional(),
    checked: count('Subscriptions that were looked at'),
    changed: count('Those that have other lines now'),
    failed: count('Those that are left as they are'),
    failures: z
      .array(z.object({ subscription_id: referenceSchema('subs'), message: z.string() }))
      .meta({ description: `The first ${keptFailures} of those, with the reason` }),
  })
  .meta({ id: 'PlanSync' });

export function planSyncView(
  plan_id: PlanId,
  sync: PlanSyncState,
): z.output<typeof planSyncSchema> {
  if (!sync) return { plan_id, state: 'none', checked: 0, changed: 0, failed: 0, failures: [] };
  const { id, state, at, completed_at, checked, changed, failed, failures } = sync;
  return {
    workflow_id: id,
    run_id: id,
    plan_id,
    state,
    requested_at: at,
    ...(completed_at === null ? {} : { completed_at }),
    ...{ checked, changed, failed, failures: [...failures] },
  };
}
