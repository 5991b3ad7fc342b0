import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { secretBytes, secretEntropyBytes, secretOf, secretSchema } from '../endpoint/secret.ts';
import { signature, signedHeaders } from './signing.ts';

const test = suite('signing');

const secret = secretOf(randomBytes(secretEntropyBytes));
const body = Buffer.from('{"event_type":"customer.updated","customer":{"name":"Zoë 👩🏽"}}');
const now = () => Math.floor(Date.now() / 1000);

test('the verifier of Standard Webhooks accepts our signature', () => {
  const headers = signedHeaders({ id: 'evt_1', timestamp: now(), body }, [secret]);
  assert.equal(new Webhook(secret).verify(body, headers), JSON.parse(body.toString()));
});

test('it refuses another secret, body, id and an old time', () => {
  const message = { id: 'evt_1', timestamp: now(), body };
  const headers = signedHeaders(message, [secret]);
  const other = secretOf(randomBytes(24));
  assert.throws(() => new Webhook(other).verify(body, headers), /No matching signature/);
  const changed = Buffer.from(body.toString().replace('updated', 'deleted'));
  assert.throws(() => new Webhook(secret).verify(changed, headers), /No matching signature/);
  const renamed = { ...headers, 'webhook-id': 'evt_2' };
  assert.throws(() => new Webhook(secret).verify(body, renamed), /No matching signature/);
  const old = signedHeaders({ ...message, timestamp: now() - 600 }, [secret]);
  assert.throws(() => new Webhook(secret).verify(body, old), /too old/);
});

test('with two secrets a receiver may verify with either', () => {
  const second = secretOf(randomBytes(64));
  const headers = signedHeaders({ id: 'evt_1', timestamp: now(), body }, [secret, second]);
  for (const known of [secret, second]) {
    assert.ok(new Webhook(known).verify(body, headers));
  }
});

test('the signature is HMAC-SHA256 over id, time and body, separated by points', () => {
  const key = Buffer.alloc(24, 7);
  const expected = createHmac('sha256', key).update('evt_1.1700000000.{}').digest('base64');
  const message = { id: 'evt_1', timestamp: 1_700_000_000, body: Buffer.from('{}') };
  assert.is(signature(message, secretOf(key)), `v1,${expected}`);
});

test('a secret has a prefix and 24 to 64 bytes in strict base64', () => {
  assert.is(secretBytes(secretOf(Buffer.alloc(24)))?.length, 24);
  assert.is(secretBytes(secretOf(Buffer.alloc(64)))?.length, 64);
  const bare = Buffer.alloc(32).toString('base64');
  const bad = [
    secretOf(Buffer.alloc(23)),
    secretOf(Buffer.alloc(65)),
    bare,
    'whsec_',
    `${secret}=`,
  ];
  for (const text of bad) assert.not.ok(secretSchema.safeParse(text).success, text);
  assert.ok(secretSchema.safeParse(secret).success);
  assert.throws(() => signature({ id: 'evt_1', timestamp: 1, body }, 'whsec_'), TypeError);
});

test.run();
