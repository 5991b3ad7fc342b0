import { setTimeout as pause } from 'node:timers/promises';
import { randomFrom } from '../load/chance.ts';
import { measure } from '../measure.ts';
import type { Figure } from '../report.ts';
import { apiProcessName, type ProcessName, type Scenario, type World } from '../scenario.ts';
import { writers } from './writes.ts';

/** The processes that may be killed, with so many of the api. */
const processNames = (apiProcesses: number): readonly ProcessName[] => [
  ...Array.from({ length: apiProcesses }, (_, index) => apiProcessName(index)),
  'projector',
  'webhooks',
  'nats',
  'postgres',
  'eventstore',
];
const clients = 16;

/**
 * S9: kill -9 of a random process at fixed times under careful clients: each repeats its request with the
 * same key until it has a final answer. Each process comes back by itself.
 */
export const kills: Scenario = {
  id: 'S9',
  title: 'careful clients, while a random process is killed again and again',
  run: async (world) => {
    const { options } = world;
    const seconds = (options.kills + 1) * options.killEvery;
    const part = writers(
      clients,
      { kind: 'closed' },
      {
        wallets: await world.wallets(),
        movement: { kind: 'debit' },
      },
    );
    if (part.work.kind !== 'writes') return [];
    const result = await measure(
      { ...world, options: { ...options, seconds } },
      {
        scenario: kills.id,
        title: `${kills.title}, every ${options.killEvery} s`,
        clients,
        parts: [{ ...part, work: { ...part.work, isInsistent: true } }],
        beside: (load) => killDuring(world, load),
      },
    );
    // A process that was killed takes its count of processor time with it.
    return [{ ...result, processorTime: null }];
  },
};

/** Kills the wanted number of processes, unless the load ends before. */
async function killDuring(world: World, load: Promise<unknown>): Promise<readonly Figure[]> {
  const { options, pidOf } = world;
  const random = randomFrom(options.seed);
  const killed = new Map<ProcessName, number>();
  let isOver = false;
  const over = load.finally(() => {
    isOver = true;
  });
  for (let kill = 0; kill < options.kills && !isOver; kill += 1) {
    await Promise.race([pause(options.killEvery * 1_000, undefined, { ref: false }), over]);
    const running = processNames(options.apiProcesses).filter((name) => pidOf(name) !== undefined);
    const name = running[Math.floor(random() * running.length)];
    const pid = name && pidOf(name);
    if (isOver || !name || pid === undefined) continue;
    process.kill(pid, 'SIGKILL');
    killed.set(name, (killed.get(name) ?? 0) + 1);
  }
  return [...killed].map(([name, value]) => ({ name: `kills of ${name}`, value, unit: '' }));
}
