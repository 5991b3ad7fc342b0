import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SharedStack, sharedStack } from '../stack.ts';
import { type HttpRuns, httpRuns, summaryOf } from './http-runs.ts';
import { seedOfRun } from './runs.ts';

const test = suite('ledgers against the oracle, over HTTP');

const seed = seedOfRun();
/** So that a slow machine plays fewer scenarios, and not longer. */
const milliseconds = 11_000;

let stack: SharedStack;
let runs: HttpRuns;
test.before(async () => {
  stack = await sharedStack();
  runs = await httpRuns(stack);
});

test('one client per wallet', () => runs.prove({ seed, clients: 1, milliseconds }));

test('eight clients per wallet', () => runs.prove({ seed, clients: 8, milliseconds }));

test('the public stream tells every entry of every wallet once and in order', () =>
  runs.provePublished());

test('that was enough', () => {
  const { requests, text } = summaryOf(runs);
  console.log(`${text}, COUNTERFOIL_TEST_SEED=${seed}`);
  // A machine that is busy with other things plays little; the bulk of the requests is in memory.
  assert.ok(requests >= 80, text);
});

test.run();
