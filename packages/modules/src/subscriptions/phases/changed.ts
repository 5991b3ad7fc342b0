import { type Stamped, updatedStamps } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { newPhase, type Phase } from './phase.ts';

/** Phases after an event that is about one of them. */
export function phasesAfter(
  phases: readonly Phase[],
  event: Stamped<SubscriptionEvent>,
): readonly Phase[] {
  const { stamp } = event;
  const changed = (id: string, change: Partial<Phase>) =>
    phases.map((phase) =>
      phase.id === id ? { ...phase, ...change, ...updatedStamps(stamp) } : phase,
    );
  switch (event.type) {
    case 'PhaseBegun':
      return changed(event.data.phase_id, { has_begun: true });
    case 'PhaseChanged':
      return changed(event.data.phase_id, { metadata: event.data.metadata });
    case 'PhaseAdded': {
      const { phase } = event.data;
      return [
        ...phases.map((each, place) =>
          place === phases.length - 1 ? { ...each, end_date: phase.start_date } : each,
        ),
        newPhase(phase, stamp, false),
      ];
    }
    case 'PhaseRemoved': {
      const removed = phases.find(({ id }) => id === event.data.phase_id);
      const others = phases.filter((phase) => phase !== removed);
      return others.map((each) =>
        each.end_date === removed?.start_date ? { ...each, end_date: removed.end_date } : each,
      );
    }
    case 'PauseEnded': {
      const dates = new Map(event.data.phases.map((each) => [each.id, each]));
      return phases.map((phase) => ({ ...phase, ...dates.get(phase.id) }));
    }
    default:
      return phases;
  }
}
