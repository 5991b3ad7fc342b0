import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomId } from './id.ts';
import { instantOf } from './instant.ts';

const test = suite('ids');

test('no id comes twice, and none has a part in common with another but its time', () => {
  const ids = Array.from({ length: 2_000 }, () => randomId('cust', instantOf(1)));
  assert.is(new Set(ids.map((id) => id.slice(0, 15))).size, 1);
  for (const part of [ids.map((id) => id.slice(15, 23)), ids.map((id) => id.slice(23))]) {
    assert.is(new Set(part).size, ids.length);
  }
});

test.run();
