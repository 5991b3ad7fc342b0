import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Canary, release, survivors } from './canary.ts';

const test = suite('canaries');

const tests = ['packages/kernel/src/money.test.ts'];

const canary = (text: string, bug: string): Canary => ({
  name: 'a bug in money',
  folders: ['packages/kernel/src'],
  text,
  bug,
});
const rounding = 'amount.round(scale, 1)';

test('a bug that the tests notice is caught', async () => {
  const verdict = await release(canary(rounding, 'amount.round(scale, 0)'), tests);
  assert.is(verdict.kind, 'caught');
});

test('a change that makes no difference survives, and is reported', async () => {
  const harmless = canary(rounding, 'amount.round(scale, 1 + 0)');
  assert.equal(await release(harmless, tests), { kind: 'survived', passed: 3 });
  assert.equal(await survivors([harmless], tests), ['a bug in money: all 3 tests pass']);
});

test('a file that cannot be loaded any more is no bug that was found', async () => {
  const verdict = await release(canary(rounding, 'amount.round('), tests);
  assert.is(verdict.kind, 'unusable');
});

test('text that is not there, or there twice, is refused', async () => {
  for (const text of ['not there', 'import']) {
    try {
      await release(canary(text, 'anything'), tests);
      assert.unreachable();
    } catch (error) {
      assert.match(String(error), 'not once');
    }
  }
});

test('a replacement is taken as it is written', async () => {
  const verdict = await release(
    canary(rounding, "amount.round(scale, '$&' === '$' + '&' ? 1 : 0)"),
    tests,
  );
  assert.is(verdict.kind, 'survived');
});

test.run();
