import type { ServerUrls } from '@counterfoil/cli/settings';
import { rebuild, rebuilt, verify } from '@counterfoil/cli/verify';
import { categoryPrefix, createChainCheck, type EventStore } from '@counterfoil/engine';
import type { Figure } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { untilVisible } from '../verdict.ts';

const prefixes = [categoryPrefix('wallet')];

/** CATCH-UP: the speed of checking the log and refilling read models, on what the others left. */
export const catchUp: Scenario = {
  id: 'CATCH-UP',
  title: 'check of the whole log, and all read models again from its start',
  run: async ({ store, demo, processorTime, profiles }) => {
    const urls: ServerUrls = {
      eventStoreUrl: demo.eventstore_url,
      databaseUrl: demo.database_url,
      natsUrl: demo.nats_url,
    };
    await untilVisible(store, demo);
    const chains = await timed(() => checkChains(store));
    const lines: string[] = [];
    const verified = await timed(() => verify(urls, (line) => lines.push(line)));
    const events = Number(/(\d+) events/.exec(lines.join('\n'))?.[1]);
    const before = processorTime();
    const recording = profiles?.start(catchUp.id);
    const { records, facts } = rebuilt();
    const refilled = await timed(() => rebuild(urls, records));
    const spent = processorTime();
    await recording?.end(events);
    const withFacts = await timed(() => rebuild(urls, facts));
    const of = (name: string): number => (spent[name] ?? 0) - (before[name] ?? 0);
    return [
      {
        scenario: catchUp.id,
        title: `${catchUp.title}: ${events.toLocaleString('en-US')} events`,
        clients: null,
        samples: [],
        answers: {},
        figures: [
          ...figuresOf('hash chains of all wallets', chains.value.events, chains),
          ...figuresOf('verify: chains, checkpoints and every row', events, verified),
          rateOf('read models from the start of the log', events, refilled),
          // The active projector does the work; this program only asks for it.
          { name: '  processor time of the projector', value: of('projector'), unit: 's' },
          { name: '  processor time of PostgreSQL', value: of('postgres'), unit: 's' },
          rateOf('tables of usage, past all events of wallets', events, withFacts),
        ],
        processorTime: null,
        faults: verified.value ? [] : lines,
        checked: `${lines.join('; ')}`,
      },
    ];
  },
};

async function checkChains(store: EventStore) {
  const check = createChainCheck();
  const upTo = await store.head();
  for await (const event of store.readLog({ prefixes, after: 0n, upTo })) check.take(event);
  return check.report();
}

interface Timed<Value> {
  readonly value: Value;
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** Runs something and takes the time, and the processor time of this process. */
async function timed<Value>(work: () => Promise<Value>): Promise<Timed<Value>> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return {
    value,
    seconds: (performance.now() - startedAt) / 1_000,
    processorSeconds: (user + system) / 1_000_000,
  };
}

const rateOf = (name: string, events: number, { seconds }: Timed<unknown>): Figure => ({
  name,
  value: events / seconds,
  unit: 'events/s',
});

const figuresOf = (name: string, events: number, taken: Timed<unknown>): readonly Figure[] => [
  rateOf(name, events, taken),
  { name: '  processor time of this program', value: taken.processorSeconds, unit: 's' },
];
