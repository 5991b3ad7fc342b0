import type { Clock, Clocks, ReactionEvent, TestClock } from '@counterfoil/engine/define';
import type { EnvironmentId, EventCatalogue, EventOf, TenantId } from '@counterfoil/kernel';
import { takeStep } from './decisions.ts';
import { advanceOf, type TestClockState, testClock } from './test-clock.ts';

/** The clocks of a process, which follow the log. */
export interface FollowedClocks extends Clocks {
  /**
   * Takes in an event; one of another aggregate changes nothing. Events of one stream come in order, and
   * may come again.
   */
  apply(event: ReactionEvent<EventOf<EventCatalogue>>): void;
  /** The test clock of an environment as this process goes by it; null when it never had one. */
  stateOf(environmentId: string): TestClockState;
}

interface Entry {
  readonly tenantId: TenantId;
  readonly state: TestClockState;
  readonly revision: number;
}

/** Clocks that all show the system's time, until events say otherwise. */
export function createClocks(system: Clock): FollowedClocks {
  const entries = new Map<string, Entry>();
  const take = (environmentId: string, entry: Entry): void => {
    const known = entries.get(environmentId);
    if (!known || entry.revision > known.revision) entries.set(environmentId, entry);
  };
  return {
    now: (owner) => entries.get(owner)?.state?.now ?? system.now(owner),
    stateOf: (environmentId) => entries.get(environmentId)?.state ?? null,
    testClocks: () =>
      [...entries].flatMap(([id, entry]) => shown(id as EnvironmentId, entry) ?? []),
    testClock: (id) => {
      const entry = entries.get(id);
      return entry ? shown(id, entry) : null;
    },
    apply(event) {
      if (!Object.hasOwn(testClock.events, event.type)) return;
      const { aggregate_id: id, revision } = event;
      const known = entries.get(id);
      if (known && revision <= known.revision) return;
      const state = testClock.evolve(
        known?.state ?? null,
        event as unknown as Parameters<typeof testClock.evolve>[1],
      );
      entries.set(id, { tenantId: event.stamp.tenant_id, state, revision });
    },
    async step(context, { tenantId, environmentId }, { number }, step) {
      const outcome = await context.execute(testClock, environmentId, takeStep(number, step));
      take(environmentId, { tenantId, ...outcome });
    },
  };
}

function shown(environmentId: EnvironmentId, { tenantId, state }: Entry): TestClock | null {
  if (!state?.now) return null;
  const { now, advances: number } = state;
  const under = advanceOf(state);
  const advance = under && {
    number,
    to: under.to,
    stopsAtEffect: under.stop_at_next_effect,
    hasMoved: now !== under.from,
    effects: under.effects,
  };
  return { tenantId, environmentId, now, advance };
}
