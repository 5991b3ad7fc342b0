import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { survivors } from './canary.ts';
import { flocks } from './planted-bugs.ts';

const test = suite('the most telling planted bugs');

for (const { canaries, foundBy } of flocks) {
  for (const canary of canaries.filter(({ isTelling }) => isTelling)) {
    test(`caught: ${canary.name}`, async () => {
      const alive = await Promise.all(foundBy.map((tests) => survivors([canary], tests)));
      assert.equal(alive.flat(), []);
    });
  }
}

test.run();
