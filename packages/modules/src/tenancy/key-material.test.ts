import { createHash } from 'node:crypto';
import type { EnvironmentId, KeyId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deriveKey, fingerprintOf, readKeyMaterial } from './key-material.ts';

const test = suite('key material');

const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));
const material = readKeyMaterial(bytes.toString('hex'));
const environmentId = 'env_01' as EnvironmentId;
const keyId = 'secret_01' as KeyId;

test('is read from hexadecimal and from both kinds of base64', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    assert.equal(Buffer.from(readKeyMaterial(bytes.toString(encoding))), bytes, encoding);
  }
});

test('is refused when it is not 32 bytes, without repeating it', () => {
  for (const text of [
    '',
    'abc',
    'a'.repeat(63),
    bytes.subarray(1).toString('base64'),
    ' '.repeat(44),
  ]) {
    assert.throws(
      () => readKeyMaterial(text),
      (error: Error) => /32 bytes/.test(error.message) && (!text || !error.message.includes(text)),
    );
  }
});

test('a key is sk_ and 256 bits', () => {
  assert.match(deriveKey(material, environmentId, keyId), /^sk_[A-Za-z0-9_-]{43}$/);
});

test('a key follows from secret, environment and id, and from each of them', () => {
  const key = deriveKey(material, environmentId, keyId);
  assert.is(deriveKey(material, environmentId, keyId), key);
  const other = readKeyMaterial('0'.repeat(64));
  assert.is.not(deriveKey(other, environmentId, keyId), key);
  assert.is.not(deriveKey(material, 'env_02' as EnvironmentId, keyId), key);
  assert.is.not(deriveKey(material, environmentId, 'secret_02' as KeyId), key);
});

test('the fingerprint is the hash of the whole key and a mask', () => {
  const key = deriveKey(material, environmentId, keyId);
  const { hash, display_id } = fingerprintOf(key);
  assert.is(hash, createHash('sha256').update(key).digest('hex'));
  assert.is(display_id, `${key.slice(0, 5)}***${key.slice(-2)}`);
});

test.run();
