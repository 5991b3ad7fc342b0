import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { readPublicStream } from '../system/public-stream.ts';
import { assertProven, readAll } from './audit.ts';
import { checkDurability } from './checks/request-checks.ts';
import { httpClient } from './http-client.ts';
import { type Script, scripts } from './plans.ts';
import { type Played, play } from './play.ts';
import { seedOfRun } from './runs.ts';
import type { LedgerAnswer } from './trace.ts';

const test = suite('ledgers against the oracle, over HTTP');

const seed = seedOfRun();
/** What is spent on random scripts, so that a slow machine plays fewer of them. */
const budgetMilliseconds = 12_000;
const atOnce = 4;

let stack: Stack;
let own: TestTenant;
let stranger: TestTenant;
const played: Played[] = [];
let requests = 0;

test.before(async () => {
  stack = await startStack();
  own = await stack.tenant('ledger');
  stranger = await stack.tenant('ledger of another');
});
test.after(() => stack.stop());

/** What a stranger with a key of his own is told of a wallet, by every way to it. */
async function askedByStranger(walletId: string): Promise<readonly LedgerAnswer[]> {
  const paths = ['', '/transactions', '/holds', '/balance', '/ledger'];
  const reads = paths.map((path) => stranger.call('GET', `/wallets/${walletId}${path}`));
  const debit = stranger.call('POST', `/wallets/${walletId}/debit`, { credits: '1' });
  const answers = await Promise.all([...reads, debit]);
  return answers.map(({ status, body }) => ({ status, body, isReplay: false }));
}

async function prove(script: Script, clients: number, name: string): Promise<void> {
  const client = httpClient(own, stack.store);
  const { traces, walletId } = await play(client, script, { name, clients, unit: 4, lead: 400 });
  requests += traces.length;
  const [all, strangers] = await Promise.all([
    readAll(client, walletId),
    askedByStranger(walletId),
  ]);
  played.push({ walletId, traces, history: all.history });
  const { tenantId, environmentId } = own;
  await assertProven({ ...all, traces, tenantId, environmentId, strangers });
}

/** Random scripts, several wallets at a time, until the budget is used up. */
async function proveRandomly(clients: number): Promise<void> {
  const lanes = Array.from({ length: atOnce }, (_, lane) =>
    fc.assert(
      fc.asyncProperty(scripts(20, 60), async (script) => {
        await prove(script, clients, `${clients}-${lane}-${requests}`);
      }),
      {
        seed: seed + lane,
        numRuns: 10_000,
        interruptAfterTimeLimit: budgetMilliseconds,
        // What has failed once on a real clock is looked into by its ledger, not made smaller.
        endOnFailure: true,
        includeErrorInReport: true,
      },
    ),
  );
  await Promise.all(lanes);
}

test('one client per wallet', () => proveRandomly(1));

test('eight clients per wallet', () => proveRandomly(8));

test('the public stream tells every entry of every wallet once and in order', async () => {
  let faults: readonly string[] = [];
  await eventually(
    async () => {
      const messages = await readPublicStream(stack.natsUrl);
      faults = played.flatMap(({ walletId, traces, history }) => {
        const published = messages.filter(({ stream }) => stream.endsWith(`.${walletId}`));
        return checkDurability({ traces, history, published })?.message ?? [];
      });
      return faults.length === 0;
    },
    () => faults.join('\n'),
  );
});

test('that was enough', () => {
  const entries = played.reduce((sum, { history }) => sum + history.length, 0);
  console.log(`${requests} requests, ${played.length} wallets, ${entries} events`);
  console.log(`COUNTERFOIL_TEST_SEED=${seed}`);
  assert.ok(requests >= 1_000, `${requests} requests`);
});

test.run();
