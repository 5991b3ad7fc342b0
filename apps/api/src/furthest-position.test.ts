import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { furthestPosition } from './furthest-position.ts';

const test = suite('the furthest position');

for (const [head, shown, furthest] of [
  [21n, 20n, 21n],
  // A checkpoint behind the last event, after events that nobody follows.
  [21n, 22n, 22n],
] as const) {
  test(`of a log that ends at ${head}, and read models at ${shown}`, async () => {
    const ask = furthestPosition(
      { head: async () => head },
      { projected: { position: () => shown } },
    );
    assert.is(await ask(), furthest);
  });
}

test.run();
