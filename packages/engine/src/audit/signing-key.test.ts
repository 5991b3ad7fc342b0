import { verify } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { signingKeyFrom } from './signing-key.ts';

const test = suite('signing key');

/** RFC 8032 §7.1, test 1. */
const vector = {
  seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  signatureOfNothing:
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
    '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
};
const key = signingKeyFrom(Buffer.from(vector.seed, 'hex'));

test('a seed gives the key and the signatures of RFC 8032', () => {
  const body = key.publicKey.split('\n')[1] ?? '';
  assert.is(Buffer.from(body, 'base64').subarray(-32).toString('hex'), vector.publicKey);
  assert.is(key.sign(''), vector.signatureOfNothing);
});

test('a signature is checked with the public key alone, and holds for its text only', () => {
  const signature = Buffer.from(key.sign('statement'), 'hex');
  assert.ok(verify(null, Buffer.from('statement'), key.publicKey, signature));
  assert.not(verify(null, Buffer.from('statements'), key.publicKey, signature));
});

test('a seed of another length is refused', () => {
  assert.throws(() => signingKeyFrom(Buffer.alloc(31)), RangeError);
});

test.run();
