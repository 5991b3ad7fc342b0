import { type Decision, type PlanId, type PlanSyncId, Problem } from '@counterfoil/kernel';
import type { PlanSyncEvent, PlanSyncState } from './plan-sync.ts';

export type PlanSyncDecision = Decision<PlanSyncState, PlanSyncEvent>;

/** Begins a synchronisation of a plan's subscriptions, as of now. Throws 409 while one is running. */
export const requestSync =
  (id: PlanSyncId, plan_id: PlanId): PlanSyncDecision =>
  (state, at) => {
    if (state?.state !== 'running')
      return [{ type: 'PlanSyncRequested', data: { id, plan_id, at } }];
    throw new Problem(
      'version_conflict',
      `The subscriptions of the plan ${plan_id} are being synchronised: GET tells when that has ended.`,
      { details: { workflow_id: state.id }, retryAfterSeconds: 1 },
    );
  };

/** Notes what became of some subscriptions; nothing where others have gone on meanwhile. */
export const advanceSync =
  (
    from: NonNullable<PlanSyncState>,
    done: Omit<Extract<PlanSyncEvent, { type: 'PlanSyncAdvanced' }>['data'], 'id'>,
  ): PlanSyncDecision =>
  (state) =>
    state?.id === from.id && state.state === 'running' && state.checked === from.checked
      ? [{ type: 'PlanSyncAdvanced', data: { id: from.id, ...done } }]
      : [];
