import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { survivors } from './canary.ts';
import { flocks } from './planted-bugs.ts';

const test = suite('all planted bugs');

for (const { subject, canaries, foundBy } of flocks) {
  for (const tests of foundBy) {
    test(`every bug in the ${subject} is caught by ${tests.join(', ')}`, async () => {
      assert.equal(await survivors(canaries, tests), []);
    });
  }
}

test.run();
