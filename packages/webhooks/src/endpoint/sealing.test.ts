import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createSealer, SealBroken, sealedSchema } from './sealing.ts';

const test = suite('sealing');

const key = randomBytes(32).toString('base64');
const isBroken = (error: unknown) => error instanceof SealBroken;

test('a sealed text opens under the same key and context', () => {
  const sealed = createSealer(key).seal('whsec_ünïcode', 'endpoint/1/secret');
  assert.is(createSealer(key).open(sealed, 'endpoint/1/secret'), 'whsec_ünïcode');
  assert.is(sealed.key_id, createSealer(key).keyId);
  assert.not.ok(JSON.stringify(sealedSchema.parse(sealed)).includes('whsec'));
});

test('an empty text can be sealed', () => {
  const sealer = createSealer(key);
  assert.is(sealer.open(sealer.seal('', 'a'), 'a'), '');
});

test('the same text sealed twice looks different', () => {
  const sealer = createSealer(key);
  assert.is.not(sealer.seal('text', 'a').ciphertext, sealer.seal('text', 'a').ciphertext);
});

test('it opens neither under another context nor under another key', () => {
  const sealer = createSealer(key);
  const sealed = sealer.seal('text', 'endpoint/1/secret');
  assert.throws(() => sealer.open(sealed, 'endpoint/2/secret'), isBroken);
  const other = createSealer(randomBytes(32).toString('base64'));
  assert.throws(() => other.open(sealed, 'endpoint/1/secret'), /Sealed under key/);
  assert.throws(
    () => other.open({ ...sealed, key_id: other.keyId }, 'endpoint/1/secret'),
    isBroken,
    'the key id is not what protects it',
  );
});

test('a change of any byte is noticed', () => {
  const sealer = createSealer(key);
  const sealed = sealer.seal('text', 'a');
  const bytes = Buffer.from(sealed.ciphertext, 'base64');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    const ciphertext = changed.toString('base64');
    assert.throws(() => sealer.open({ ...sealed, ciphertext }, 'a'), isBroken);
  }
  assert.throws(() => sealer.open({ ...sealed, ciphertext: '' }, 'a'), isBroken);
  assert.throws(() => sealer.open({ ...sealed, nonce: '' }, 'a'), isBroken);
});

test('a key that is not 32 bytes in base64 is refused', () => {
  const short = randomBytes(31).toString('base64');
  for (const bad of ['', 'secret', short, `${key} `, key.slice(0, -1)]) {
    assert.throws(() => createSealer(bad), /32 bytes in base64/);
  }
});

test.run();
