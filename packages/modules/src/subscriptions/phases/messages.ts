import type { Change, PublicEvent } from '@counterfoil/engine/define';
import { z } from 'zod';
import type { SubscriptionEvent } from '../events.ts';
import type { SubscriptionState } from '../subscription.ts';
import type { Phase } from './phase.ts';
import { phaseSchema } from './schema.ts';
import { phaseView } from './view.ts';

/** The messages about the phases that an event is about, each as it is from then on (E 22.3). */
export function phaseMessages({
  event,
  before,
  after,
}: Change<SubscriptionState, SubscriptionEvent>): readonly PublicEvent[] {
  const of = (state: SubscriptionState, id: string): readonly Phase[] =>
    state?.phases.filter((each) => each.id === id) ?? [];
  switch (event.type) {
    case 'SubscriptionCreated':
      return told('created', after, after?.phases ?? []);
    case 'PhaseAdded':
      return told('created', after, of(after, event.data.phase.id));
    case 'PhaseChanged':
      return told('updated', after, of(after, event.data.phase_id));
    case 'PhaseRemoved':
      return told('deleted', before, of(before, event.data.phase_id));
    default:
      return [];
  }
}

function told(
  tail: 'created' | 'updated' | 'deleted',
  state: SubscriptionState,
  phases: readonly Phase[],
): readonly PublicEvent[] {
  if (!state) return [];
  return phases.map((phase) => {
    const shown = phaseView(state, phase);
    const body = tail === 'deleted' ? { ...shown, status: 'deleted' } : shown;
    return {
      type: `subscription.phase.${tail}`,
      resourceId: state.id,
      body: { phase: body },
    };
  });
}

const body = z.object({ phase: phaseSchema });

export const phaseMessageTypes = {
  'subscription.phase.created': { summary: 'A phase is agreed on', kind: 'entry', body },
  'subscription.phase.updated': { summary: 'A phase changes', kind: 'entry', body },
  'subscription.phase.deleted': { summary: 'A phase is given up', kind: 'entry', body },
} as const;
