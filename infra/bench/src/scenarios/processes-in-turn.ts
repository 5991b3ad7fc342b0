import { setTimeout as pause } from 'node:timers/promises';
import { measure } from '../measure.ts';
import { type Figure, type Result, shown } from '../report.ts';
import { apiProcessName, type Scenario, type World } from '../scenario.ts';
import { median } from '../times.ts';
import { hotDebitsLoad, spreadLoad, type WriteLoad, writers } from './writes.ts';

/** Each number of processes has its turn so often; ratios within a round are compared, so that a machine may become slower. */
const roundsTaken = 6;
/** Seconds of load for all processes before the first turn: until V8 has compiled for good what most requests need. */
const compilingSeconds = 90;
/** Seconds of load in front of each turn, until the others know who is there; `--warm-up-seconds` in their place. */
const leadSeconds = 6;
/** Before that, those that went on have caught up when all processes together are idle but for this share of a second. */
const idleShare = 0.3;
/** After so many seconds the turn begins all the same. */
const idleWithinSeconds = 60;

const loads = [
  { id: 'S1', load: spreadLoad },
  { id: 'S3', load: hotDebitsLoad('hot-debits-in-turn') },
] as const;

/**
 * SHARING: S1 and S3 with one process of the api, with two, and so on up to all, in turn and in one installation. A process
 * without a turn is stopped meanwhile and takes nothing. So all have compiled their code alike, and a machine
 * whose speed changes within minutes, as it does where others share it, slows down all of them. Before the first
 * turn all have a load together, for each compiles by itself, and two share the calls that bring V8 to it.
 */
export const processesInTurn: Scenario = {
  id: 'SHARING',
  title: 'one process of the api, two and so on in turn, each for some seconds',
  run: async (world) => {
    if (world.apiUrls.length === 1) return [];
    const results: Result[] = [];
    for (const { id, load } of loads) {
      const found = await load(world);
      for (const clients of world.options.clients) {
        results.push(summary(id, clients, await takeTurns(world, id, clients, found)));
      }
    }
    return results;
  },
};

/** The results of one process, two and so on, in this order. */
type Round = readonly Result[];

interface Taken {
  /** That of all processes together before the first turn, which counts for nothing but the verdict. */
  readonly before: Result;
  readonly rounds: readonly Round[];
}

async function takeTurns(
  world: World,
  id: string,
  clients: number,
  load: WriteLoad,
): Promise<Taken> {
  const turnOf = (turn: World, title: string): Promise<Result> =>
    measure(turn, {
      scenario: `SHARING-${id}`,
      title,
      clients,
      parts: [writers(clients, { kind: 'closed' }, load)],
    });
  const compiling = { ...world.options, seconds: compilingSeconds, warmUpSeconds: 0 };
  const before = await turnOf({ ...world, options: compiling }, `${id} before the turns`);
  const rounds: Round[] = [];
  for (let round = 0; round < roundsTaken; round += 1) {
    const results: Result[] = [];
    for (const index of rotated([...world.apiUrls.keys()], round)) {
      const processes = index + 1;
      await untilIdle(world);
      const turn = withProcesses(world, processes, round);
      const result = await turnOf(turn, `${id} with ${processes} processes`);
      const [rate, p99] = [shown(rateOf(result)), shown(p99Of(result))];
      world.print(`  ${id}, round ${round + 1}, ${processes} processes: ${rate} /s, p99 ${p99} ms`);
      results[index] = result;
    }
    rounds.push(results);
  }
  return { before, rounds };
}

/** Waits until a process that was stopped has read what the others wrote meanwhile, so that its turn does not pay for that. */
async function untilIdle(world: World): Promise<void> {
  const spent = (): number =>
    Object.values(world.processorTime()).reduce((sum, one) => sum + one, 0);
  for (let second = 0, before = spent(); second < idleWithinSeconds; second += 1) {
    await pause(1_000);
    const after = spent();
    if (after - before < idleShare) return;
    before = after;
  }
}

/** The installation with so many processes of the api, another choice of them in each round. */
function withProcesses(world: World, processes: number, round: number): World {
  const order = rotated([...world.apiUrls.keys()], round);
  const chosen = new Set(order.slice(0, processes));
  const others = order.filter((index) => !chosen.has(index)).map(apiProcessName);
  return {
    ...world,
    options: { ...world.options, warmUpSeconds: world.options.warmUpSeconds ?? leadSeconds },
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

const rotated = <Item>(items: readonly Item[], by: number): readonly Item[] => {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
};

/** The medians of all turns, and those of the ratios to the turn of one process in the same round. */
function summary(id: string, clients: number, { before, rounds }: Taken): Result {
  const turns = [before, ...rounds.flat()];
  const answers: Record<string, number> = {};
  for (const [kind, count] of turns.flatMap((turn) => Object.entries(turn.answers))) {
    answers[kind] = (answers[kind] ?? 0) + count;
  }
  return {
    scenario: 'SHARING',
    title: `${id} with one process of the api, two and so on in turn`,
    clients,
    samples: [],
    answers,
    figures: (rounds[0] ?? []).flatMap((_, index) => figuresOf(index, rounds)),
    processorTime: null,
    faults: turns.flatMap(({ faults }) => faults),
    checked: `each of ${turns.length} turns, with that before them`,
  };
}

function figuresOf(index: number, rounds: readonly Round[]): readonly Figure[] {
  const processes = index + 1;
  const middle = (value: (result: Result | undefined) => number): number =>
    median(rounds.map((round) => value(round[index])));
  const ratio = (value: (result: Result | undefined) => number): number =>
    median(rounds.map((round) => value(round[index]) / value(round[0])));
  return [
    { name: `${processes}: rate, median`, value: middle(rateOf), unit: 'entries/s' },
    { name: `${processes}: p99, median`, value: middle(p99Of), unit: 'ms' },
    { name: `${processes}: rate to that of one process`, value: ratio(rateOf), unit: '' },
    { name: `${processes}: p99 to that of one process`, value: ratio(p99Of), unit: '' },
  ];
}

const rateOf = (result: Result | undefined): number => result?.samples[0]?.entriesPerSecond ?? 0;
const p99Of = (result: Result | undefined): number => result?.samples[0]?.latency.p99 ?? 0;
