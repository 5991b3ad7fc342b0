import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkDeterminism } from './checks/world-checks.ts';
import type { HistoryEvent } from './history.ts';
import { memoryClient } from './memory-client.ts';
import { replayed } from './replay.ts';
import { runScenario } from './scenario-runner.ts';
import type { Plan } from './scenarios.ts';
import { fullScenario } from './test-scenario.ts';

const test = suite('commands that are carried out once more');

const steps: readonly Plan[] = [
  { kind: 'hold', credits: '1', ahead: null },
  { kind: 'hold', credits: '2', ahead: null },
  { kind: 'capture', back: 0, credits: null, isLast: true },
];

test('lead to the same events, whatever the service found nothing to do about in between', async () => {
  const client = memoryClient();
  const scenario = {
    ...fullScenario(),
    others: [],
    steps: steps.map((plan) => ({ wait: 1, isKeyed: false, plan })),
  };
  const [wallet] = (await runScenario(client, scenario, { name: 'again', clients: 1, lead: 400 }))
    .wallets;
  assert.ok(wallet);
  const history = (await client.history(wallet.walletId)).flatMap((event): HistoryEvent[] =>
    event.data.credits === '1' ? [event, nothingAfter(event)] : [event],
  );
  const numbered = history.map((event, revision) => ({ ...event, revision }));
  const again = await replayed(numbered, wallet.exchanges);
  assert.is(checkDeterminism({ history: numbered, again }), null);
  assert.is(again.at(-1)?.type, 'HoldCaptured');
});

/** The event that tells that the service had nothing to do to the wallet because of what this one led to elsewhere. */
const nothingAfter = (event: HistoryEvent): HistoryEvent => ({
  ...event,
  id: 'nothing',
  type: 'RequestWithoutEffect',
  data: {},
  metadata: {
    ...event.metadata,
    $causationId: 'an event elsewhere',
    request: { key: 'k', fields: {}, events: 1 },
  },
});

test.run();
