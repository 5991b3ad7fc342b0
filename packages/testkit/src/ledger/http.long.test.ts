import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Stack, startStack } from '../stack.ts';
import { type HttpRuns, httpRuns, summaryOf } from './http-runs.ts';
import { seedOfRun } from './runs.ts';

/** The share of the long proof that goes over HTTP: by time, so that it ends on any machine. */
const test = suite('ledgers against the oracle, over HTTP, at length');

const seed = seedOfRun();
const milliseconds = Number(process.env.COUNTERFOIL_TEST_SECONDS ?? 180) * 1_000;

let stack: Stack;
let runs: HttpRuns;
test.before(async () => {
  stack = await startStack();
  runs = await httpRuns(stack);
});
test.after(() => stack?.stop());

for (const clients of [1, 4, 16]) {
  test(`${clients} clients per wallet`, () => runs.prove({ seed, clients, milliseconds }));
}

test('the public stream tells every entry of every wallet once and in order', () =>
  runs.provePublished());

test('it says what it has done', () => {
  const { requests, text } = summaryOf(runs);
  console.log(`${text}, COUNTERFOIL_TEST_SEED=${seed}`);
  assert.ok(requests > 0);
});

test.run();
