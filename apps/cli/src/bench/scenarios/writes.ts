import type { Choice, Movement, Pace, Part } from '../load/plan.ts';
import { measure } from '../measure.ts';
import type { Result } from '../report.ts';
import type { World } from '../scenario.ts';

/** What a scenario of writes alone leaves open. */
export interface WriteScenario {
  readonly scenario: string;
  readonly title: string;
  readonly wallets: readonly string[];
  readonly choice?: Choice;
  readonly movement: Movement;
  readonly repeatShare?: number;
}

/** A part that writes. */
export const writers = (
  clients: number,
  pace: Pace,
  work: Pick<WriteScenario, 'wallets' | 'choice' | 'movement' | 'repeatShare'>,
): Part => ({
  clients,
  pace,
  work: {
    kind: 'writes',
    wallets: work.wallets,
    choice: work.choice ?? { kind: 'uniform' },
    movement: work.movement,
    repeatShare: work.repeatShare ?? 0,
    isInsistent: false,
    followedEvery: 0,
  },
});

/** Runs writes with each number of clients that was asked for, one after the other. */
export async function measureWrites(world: World, scenario: WriteScenario): Promise<Result[]> {
  const { clients: numbers, rate } = world.options;
  const pace: Pace = rate === null ? { kind: 'closed' } : { kind: 'open', perSecond: rate };
  const title = rate === null ? scenario.title : `${scenario.title}, open loop of ${rate} /s`;
  const { movement } = scenario;
  const entriesPerKey = movement.kind === 'bulk' ? movement.entries : 1;
  const results: Result[] = [];
  for (const clients of numbers) {
    const parts = [writers(clients, pace, scenario)];
    const { scenario: id } = scenario;
    results.push(await measure(world, { scenario: id, title, clients, parts, entriesPerKey }));
  }
  return results;
}
