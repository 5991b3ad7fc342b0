import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { debitTypes, walletTypes } from './history.ts';
import { type Proof, proveInMemory, seedOfRun } from './runs.ts';

const test = suite('ledgers against the oracle, in memory');

const seed = seedOfRun();
let requests = 0;
const reached = new Set<string>();
const count = (proof: Proof) => {
  requests += proof.requests;
  for (const each of proof.reached) reached.add(each);
};
/** Debits over the wallets of a customer (D76), by the number of wallets that paid. */
const kindsOfDebits = ['debit over 1', 'debit over 2', 'debit in part'];
/** The occasions of automatic top-up (D29). */
const occasions = ['change', 'settings', 'unfreezing', 'new_day', 'refused_debit'];

test('one client on a test clock: the oracle foresees every event and every answer, and I1 to I11 hold', async () => {
  count(await proveInMemory({ seed, scenarios: 320, clients: 1, clock: 'test' }));
});

test('four clients at once on a test clock: the order of the log explains every answer, and I1 to I11 hold', async () => {
  count(await proveInMemory({ seed, scenarios: 280, clients: 4, clock: 'test' }));
});

test('that was enough', () => {
  console.log(`${requests} requests on a test clock, COUNTERFOIL_TEST_SEED=${seed}`);
  assert.ok(requests >= 20_000, `${requests} requests`);
  const topUps = occasions.map((occasion) => `top-up: ${occasion}`);
  const wanted = [...walletTypes, ...debitTypes, ...kindsOfDebits, ...topUps];
  assert.equal(
    wanted.filter((each) => !reached.has(each)),
    [],
    'what never came to pass',
  );
});

/** Of each kind, and of all in one statement. */
const statementsMinimum = { each: 30, together: 3 } as const;

test('due work may be late: statements with late expiries, late payments, reversals and back-dated entries add up', async () => {
  const { hardStatements } = await proveInMemory({
    seed,
    scenarios: 100,
    clients: 1,
    clock: 'system',
  });
  const kinds = [...new Set(hardStatements.flat())];
  assert.is(kinds.length, 4, kinds.join(', '));
  for (const kind of kinds) {
    const count = hardStatements.filter((kindsOfOne) => kindsOfOne.includes(kind)).length;
    assert.ok(count >= statementsMinimum.each, `${count} statements with ${kind}`);
  }
  const together = hardStatements.filter((kindsOfOne) => kindsOfOne.length === kinds.length);
  assert.ok(together.length >= statementsMinimum.together, `${together.length} with all`);
});

test('the same with four clients at once', async () => {
  await proveInMemory({ seed, scenarios: 60, clients: 4, clock: 'system' });
});

test.run();
