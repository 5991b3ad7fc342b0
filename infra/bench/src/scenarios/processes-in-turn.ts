import { measure } from '../measure.ts';
import { type Figure, type Result, shown } from '../report.ts';
import type { ProcessName, Scenario, World } from '../scenario.ts';
import { hotDebitsLoad, spreadLoad, type WriteLoad, writers } from './writes.ts';

/** Each number of processes has its turn so often; ratios within a round are compared, so that a machine may become slower. */
const rounds = 6;
/** Seconds until those that went on have caught up, and the others know who is there. */
const leadSeconds = 6;

const loads = [
  { id: 'S1', load: spreadLoad },
  { id: 'S3', load: hotDebitsLoad('hot-debits-in-turn') },
] as const;

/**
 * SHARING: S1 and S3 with one process of the api, with two, and so on up to all, in turn and in one installation. A process
 * without a turn is stopped meanwhile and takes nothing. So all have compiled their code alike, and a machine
 * whose speed changes within minutes, as it does where others share it, slows down all of them.
 */
export const sharing: Scenario = {
  id: 'SHARING',
  title: 'one process of the api, two and so on in turn, each for some seconds',
  run: async (world) => {
    if (world.apiUrls.length === 1) return [];
    const results: Result[] = [];
    for (const { id, load } of loads) {
      const turns = await takeTurns(world, id, await load(world));
      results.push(...turns.flatMap(({ result }) => (result.faults.length > 0 ? [result] : [])));
      results.push(summary(id, turns));
    }
    return results;
  },
};

interface Turn {
  readonly round: number;
  readonly processes: number;
  readonly result: Result;
}

async function takeTurns(world: World, id: string, load: WriteLoad): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  const [clients = 1] = world.options.clients;
  const numbers = world.apiUrls.map((_, index) => index + 1);
  for (let round = 0; round < rounds; round += 1) {
    for (const processes of rotated(numbers, round)) {
      const result = await measure(withProcesses(world, processes, round), {
        scenario: `SHARING-${id}`,
        title: `${id} with ${processes} processes`,
        clients,
        parts: [writers(clients, { kind: 'closed' }, load)],
      });
      const turn = { round, processes, result };
      const [rate, p99] = [shown(rateOf(turn)), shown(p99Of(turn))];
      world.print(`  ${id}, round ${round + 1}, ${processes} processes: ${rate} /s, p99 ${p99} ms`);
      turns.push(turn);
    }
  }
  return turns;
}

/** The installation with so many processes of the api, another choice of them in each round. */
function withProcesses(world: World, processes: number, round: number): World {
  const order = rotated([...world.apiUrls.keys()], round);
  const chosen = new Set(order.slice(0, processes));
  const others = order.filter((index) => !chosen.has(index)).map(nameOf);
  return {
    ...world,
    options: { ...world.options, warmUpSeconds: leadSeconds },
    run: async (plan) => {
      const pids = others.flatMap((name) => world.pidOf(name) ?? []);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      try {
        const baseUrls = plan.baseUrls.filter((_, index) => chosen.has(index));
        return await world.run({ ...plan, baseUrls });
      } finally {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      }
    },
  };
}

const nameOf = (index: number): ProcessName => (index === 0 ? 'api' : `api-${index + 1}`);

const rotated = <Item>(items: readonly Item[], by: number): readonly Item[] => {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
};

/** The medians of all turns, and those of the ratios to the turn of one process in the same round. */
function summary(id: string, turns: readonly Turn[]): Result {
  const figures: Figure[] = [];
  const answers: Record<string, number> = {};
  for (const processes of new Set(turns.map((turn) => turn.processes))) {
    const own = turns.filter((turn) => turn.processes === processes);
    const ratios = (value: (turn: Turn) => number) =>
      median(own.map((turn) => value(turn) / value(aloneIn(turns, turn.round))));
    figures.push(
      { name: `${processes}: median`, value: median(own.map(rateOf)), unit: 'entries/s' },
      { name: `${processes}: p99, median`, value: median(own.map(p99Of)), unit: 'ms' },
      { name: `${processes}: rate to that of one process`, value: ratios(rateOf), unit: '' },
      { name: `${processes}: p99 to that of one process`, value: ratios(p99Of), unit: '' },
    );
  }
  for (const { result } of turns) {
    for (const [kind, count] of Object.entries(result.answers)) {
      answers[kind] = (answers[kind] ?? 0) + count;
    }
  }
  return {
    scenario: 'SHARING',
    title: `${id} with one process of the api, two and so on in turn`,
    clients: turns[0]?.result.clients ?? null,
    samples: [],
    answers,
    figures: figures.sort((left, right) => left.name.localeCompare(right.name)),
    processorTime: null,
    faults: [],
    checked: `each of ${turns.length} turns`,
  };
}

const rateOf = ({ result }: Turn): number => result.samples[0]?.entriesPerSecond ?? 0;
const p99Of = ({ result }: Turn): number => result.samples[0]?.latency.p99 ?? 0;

function aloneIn(turns: readonly Turn[], round: number): Turn {
  const alone = turns.find((turn) => turn.round === round && turn.processes === 1);
  if (!alone) throw new Error(`round ${round} had no turn of one process`);
  return alone;
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
};
