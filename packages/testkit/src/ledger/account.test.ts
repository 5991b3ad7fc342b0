import { instantOf } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explainDebits } from './account.ts';
import { readTogether } from './audit.ts';
import type { HistoryEvent } from './history.ts';
import { memoryClient, memoryPrincipal } from './memory-client.ts';
import { runScenario } from './scenario-runner.ts';
import type { Plan } from './scenarios.ts';
import { fullScenario } from './test-scenario.ts';

const test = suite('the explanation of debits over the wallets of a customer');

const automatic = { enabled: true, threshold: '0', amount: '5' };
const steps: readonly Plan[] = [
  { kind: 'hold', credits: '1', ahead: null },
  { kind: 'auto', settings: { ...automatic, enabled: false } },
  { kind: 'debit-customer', by: 'amount', figure: '2', isPartial: false, behind: null },
];

/** A hold, an end of the automatic top-ups, and a debit over the one wallet there is. */
async function debitedStory() {
  const client = memoryClient();
  const scenario = {
    ...fullScenario(),
    auto: automatic,
    others: [],
    steps: steps.map((plan) => ({ wait: 0, isKeyed: false, plan })),
  };
  const result = await runScenario(client, scenario, { name: 'idle', clients: 1, lead: 400 });
  const { wallets, debits } = await readTogether(client, result, {
    ...memoryPrincipal,
    strangers: [],
  });
  const [wallet] = wallets;
  const [debit] = debits.exchanges;
  if (!wallet || !debit) throw new Error('nothing was played');
  return { wallet, debit, events: debits.history };
}

type Story = Awaited<ReturnType<typeof debitedStory>>;

/** One more event of the wallet, because of what a request led to elsewhere. */
function later({ wallet }: Story, because: string, type: string): HistoryEvent {
  const last = wallet.history.at(-1);
  if (!last) throw new Error('no event');
  return {
    ...last,
    id: 'later',
    type,
    revision: last.revision + 1,
    position: (last.position ?? 0n) + 1_000_000n,
    data: {},
    metadata: {
      ...last.metadata,
      occurred_at: instantOf(Date.parse(last.metadata.occurred_at) + 1_000),
      $correlationId: because,
      $causationId: 'an event elsewhere',
    },
  };
}

const explain = ({ wallet, debit, events }: Story, ...more: readonly HistoryEvent[]) =>
  explainDebits({
    wallets: [{ ...wallet, history: [...wallet.history, ...more] }],
    debits: { history: events, exchanges: [debit] },
  });

const nothing = 'RequestWithoutEffect';

test('what came to nothing long after a request was answered says nothing of when that was', async () => {
  const story = await debitedStory();
  const { exchanges, walletId } = story.wallet;
  const hold = exchanges.find(({ command }) => command.kind === 'hold');
  assert.ok(hold);
  // The debit was sent right after the hold was answered, and looked at the wallet before its settings changed.
  const debit = { ...story.debit, sent: hold.answered + 0.5 };
  const events = story.events.map((event) =>
    event.type === 'DebitRequested'
      ? { ...event, data: { ...event.data, refilling: [walletId] } }
      : event,
  );
  const early = { ...story, debit, events };
  assert.is(explain(early, later(story, hold.requestId, nothing)).shares[0]?.size, 1);
  // One that was sent after the settings had changed cannot have seen the old ones.
  assert.throws(() => explain({ ...early, debit: story.debit }), /fits none of/);
});

test('what came to nothing because of what a debit led to is no part of it', async () => {
  const story = await debitedStory();
  const { shares } = explain(story, later(story, story.debit.requestId, nothing));
  assert.is(shares[0]?.size, 1);
});

test('what was done to a wallet for a debit is a part of it', async () => {
  const story = await debitedStory();
  const done = later(story, story.debit.requestId, 'WalletUnfrozen');
  let message = '';
  try {
    // `throws` lets assertions through.
    explain(story, done);
  } catch (error) {
    message = error instanceof Error ? error.message : '';
  }
  assert.match(message, /a part of no debit/);
});

test.run();
