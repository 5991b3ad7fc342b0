import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { proveInMemory, seedOfRun } from './runs.ts';

const test = suite('ledgers against the oracle, in memory');

const seed = seedOfRun();
let requests = 0;

test('one client: the oracle foresees every event and every answer, and I1 to I11 hold', async () => {
  requests += await proveInMemory({ seed, scenarios: 150, clients: 1 });
});

test('four clients at once: the order of the log explains every answer, and I1 to I11 hold', async () => {
  requests += await proveInMemory({ seed, scenarios: 150, clients: 4 });
});

test('that was enough', () => {
  console.log(`${requests} requests, COUNTERFOIL_TEST_SEED=${seed}`);
  assert.ok(requests >= 5_000, `${requests} requests`);
});

test.run();
