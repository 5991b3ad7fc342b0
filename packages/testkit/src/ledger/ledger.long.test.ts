import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ledgerFaults } from './audit.ts';
import { wired } from './commands.ts';
import { memoryClient } from './memory-client.ts';
import { proveInMemory, seedOfRun } from './runs.ts';
import { creditsOf, shownCredits } from './units.ts';

/**
 * The long form of the proof: `npm run test:long`. It says what it has done and how fast, and with
 * COUNTERFOIL_TEST_SEED it does the same again.
 */
const test = suite('ledgers against the oracle, at length');

const seed = seedOfRun();
const requestsMinimum = Number(process.env.COUNTERFOIL_TEST_REQUESTS ?? 1_000_000);
const scriptsPerRound = 1_000;

test(`${requestsMinimum} random requests in memory, by one client and by four`, async () => {
  const startedAt = performance.now();
  let requests = 0;
  for (let round = 0; requests < requestsMinimum; round += 1) {
    const clients = round % 2 === 0 ? 1 : 4;
    // Three rounds of four on a test clock; the fourth has due work that may be late.
    const clock = round % 8 < 6 ? 'test' : 'system';
    const run = { seed: seed + round, scenarios: scriptsPerRound, clients, clock } as const;
    requests += (await proveInMemory(run)).requests;
    // So that a run that is broken off counts as far as it came.
    console.log(`${requests} requests, seeds ${seed} to ${run.seed}`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const rate = Math.round(requests / seconds);
  console.log(`${requests} requests in ${Math.round(seconds)} s, ${rate} per second, seed ${seed}`);
  assert.ok(requests >= requestsMinimum);
});

test('a million tiny debits take exactly what one big one takes', async () => {
  const debits = Math.min(requestsMinimum, 1_000_000);
  const client = memoryClient();
  const ask = (route: string, path: string, body: unknown) =>
    client.send({ route, path, params: {}, body, requestId: 'tiny', key: null });
  const customer = await ask('POST /customers', '/customers', { external_id: 't', name: 'Tiny' });
  const body = {
    customer_id: customer.body.id,
    currency: 'usd',
    initial_credits_to_load: '1000',
  };
  const { id } = (await ask('POST /wallets', '/wallets', body)).body;
  const command = { kind: 'debit', body: { credits: '0.000333333' } } as const;
  const lanes = Array.from({ length: 100 }, async (_, lane) => {
    for (let debit = lane; debit < debits; debit += 100) {
      await client.send({ ...wired(command, id), requestId: `tiny-${debit}`, key: null });
    }
  });
  await Promise.all(lanes);
  const history = await client.history(id);
  const left = shownCredits(creditsOf('1000') - BigInt(debits) * creditsOf('0.000333333'));
  assert.is(history.at(-1)?.data.credit_balance_after, left);
  assert.is(history.length, debits + 2);
  assert.equal(ledgerFaults(history), []);
});

test.run();
