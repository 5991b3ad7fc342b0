import { createPublicKey, verify } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { signature, signedHeaders } from '../sending/signing.ts';
import { privateKeyOf, privateKeyText, publicKeyText, secretBytes } from './secret.ts';

const test = suite('webhook private keys');

/** First test vector of RFC 8032, section 7.1. */
const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const publicHex = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const text = privateKeyText(seed);
const message = { id: 'evt_1', timestamp: 1_795_000_000, body: Buffer.from('{}') };

test('the public key is the one of the standard', () => {
  assert.match(text, /^whsk_/);
  assert.is(publicKeyText(text), `whpk_${Buffer.from(publicHex, 'hex').toString('base64')}`);
});

test('a signature can be checked with the public key', () => {
  const [version, value = ''] = signature(message, text).split(',');
  assert.is(version, 'v1a');
  const key = privateKeyOf(text);
  assert.ok(key);
  const signed = Buffer.from('evt_1.1795000000.{}');
  assert.ok(verify(null, signed, createPublicKey(key), Buffer.from(value, 'base64')));
});

test('secrets of both kinds sign side by side', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const headers = signedHeaders(message, [text, secret]);
  assert.match(headers['webhook-signature'] ?? '', /^v1a,\S+ v1,\S+$/);
});

test('one kind is not taken for the other', () => {
  assert.is(secretBytes(text), null);
  assert.is(privateKeyOf(`whsec_${seed.toString('base64')}`), null);
  assert.is(publicKeyText('whsk_AAAA'), null);
});

test.run();
