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
const kindsOfDebits = ['debit over 1', 'debit over 2', 'debit in part', 'share dated back'];
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

const hardKinds = 4;
/** Of each kind, and of all in one statement. Some histories have many, others none: more are made until there are enough. */
const statementsMinimum = { each: 100, together: 5 } as const;
const roundsMaximum = 20;

/** Says what is missing of statements that are hard to get right; null when there are enough. */
function missingIn(statements: readonly (readonly string[])[]): string | null {
  const counts = new Map<string, number>();
  for (const kind of statements.flat()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const together = statements.filter((kinds) => kinds.length === hardKinds).length;
  const isEnough =
    counts.size === hardKinds &&
    [...counts.values()].every((count) => count >= statementsMinimum.each) &&
    together >= statementsMinimum.together;
  return isEnough ? null : `${JSON.stringify([...counts])}, ${together} with all`;
}

test('due work may be late: statements with late expiries, late payments, reversals and back-dated entries add up', async () => {
  const statements: (readonly string[])[] = [];
  for (let round = 0; round < roundsMaximum && missingIn(statements) !== null; round += 1) {
    const proof = { seed: seed + round, scenarios: 50, clients: 1, clock: 'system' } as const;
    statements.push(...(await proveInMemory(proof)).hardStatements);
  }
  assert.is(missingIn(statements), null);
});

test('the same with four clients at once', async () => {
  await proveInMemory({ seed, scenarios: 60, clients: 4, clock: 'system' });
});

test.run();
