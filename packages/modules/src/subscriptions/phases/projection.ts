import { projection } from '@counterfoil/engine/define';
import { createdStamps, type RecordStamps } from '@counterfoil/kernel';
import { subscription } from '../subscription.ts';

/** A phase that was ever agreed on. */
interface PhaseRow extends RecordStamps {
  readonly id: string;
  readonly subscription_id: string;
}

/** One row per phase: the subscription that it is of. */
export const phaseTable = projection(subscription, {
  name: 'subscription_phases',
  version: 1,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
  },
  keys: (event) => {
    if (event.type === 'SubscriptionCreated') return event.data.phases.map(({ id }) => id);
    return event.type === 'PhaseAdded' ? [event.data.phase.id] : [];
  },
  fold: (_row: PhaseRow | null, event, key): PhaseRow => ({
    id: key,
    ...createdStamps(event.stamp),
    subscription_id: event.aggregate_id,
  }),
  view: (row: PhaseRow) => row,
  rests: () => true,
});
