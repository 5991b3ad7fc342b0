import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createSealing } from './sealing.ts';

const test = suite('sealed messages');

const secret = randomBytes(32);
const value = { text: 'eighty „credits“', list: [1, null] };

test('what one member seals another opens, and the text is not to be seen', () => {
  const bytes = createSealing(secret).seal('box.1', value);
  assert.equal(createSealing(secret).open('box.1', bytes), value);
  assert.not(Buffer.from(bytes).includes('credits'));
});

test('a message for another subject, of another installation, altered or cut short is none', () => {
  const sealing = createSealing(secret);
  const other = createSealing(randomBytes(32));
  assert.is.not(other.installation, sealing.installation);
  const bytes = sealing.seal('box.1', value);
  assert.is(sealing.open('box.2', bytes), null);
  assert.is(other.open('box.1', bytes), null);
  for (let at = 0; at < bytes.length; at += 1) {
    const altered = Uint8Array.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.is(sealing.open('box.1', altered), null, `byte ${at}`);
  }
  for (const length of [0, 12, 27, bytes.length - 1]) {
    assert.is(sealing.open('box.1', bytes.subarray(0, length)), null);
  }
});

test.run();
