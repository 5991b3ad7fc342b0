import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { verifyWebhook, WebhookRefused } from './verify-webhook.ts';

const test = suite('verify webhook');

const now = Date.parse('2026-11-21T12:00:00Z');
const seconds = now / 1_000;
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const other = `whsec_${randomBytes(32).toString('base64')}`;
const body = Buffer.from(
  '{"event_type":"customer.updated","customer":{"id":"cust_1","name":"Zoë"}}',
);

const signature = (key: string, text: string): string =>
  `v1,${createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
    .update(text)
    .digest('base64')}`;

/** The headers of a genuine attempt, with changes. */
function headersOf(changes: Readonly<Record<string, string | undefined>> = {}) {
  const id = 'evt_0000000000001_0';
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature(secret, `${id}.${seconds}.${body}`),
    'webhook-resource': 'cust_1',
    'webhook-sequence': '17',
    ...changes,
  };
}

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.instance(error, WebhookRefused);
    return (error as Error).message;
  }
  return 'taken';
};

test('a genuine webhook says what it is', () => {
  const { event, ...rest } = verifyWebhook(body, headersOf(), [secret], { now });
  const id = 'evt_0000000000001_0';
  assert.equal(rest, { id, resource: 'cust_1', sequence: 17, timestamp: seconds });
  assert.equal(event, JSON.parse(body.toString()));
});

test('what a foreign library signs is genuine', () => {
  const id = 'msg_1';
  const signed = new Webhook(secret).sign(id, new Date(now), body.toString());
  const headers = headersOf({ 'webhook-id': id, 'webhook-signature': signed });
  assert.is(verifyWebhook(body, headers, [secret], { now }).id, id);
});

test('one of several keys and one of several signatures is enough', () => {
  const genuine = headersOf()['webhook-signature'];
  const headers = headersOf({ 'webhook-signature': `v1a,AAAA v2,BBBB v1,CCCC ${genuine}` });
  assert.ok(verifyWebhook(body, headers, [other, secret], { now }));
});

test('a changed body, id, time or key is refused', () => {
  const changed = Buffer.from(body.toString().replace('cust_1', 'cust_2'));
  const cases: (() => unknown)[] = [
    () => verifyWebhook(changed, headersOf(), [secret], { now }),
    () =>
      verifyWebhook(body, headersOf({ 'webhook-id': 'evt_0000000000002_0' }), [secret], { now }),
    () =>
      verifyWebhook(body, headersOf({ 'webhook-timestamp': `${seconds + 1}` }), [secret], { now }),
    () => verifyWebhook(body, headersOf(), [other], { now }),
    () => verifyWebhook(body, headersOf(), [], { now }),
    () => verifyWebhook(body, headersOf({ 'webhook-signature': 'v1,' }), [secret], { now }),
  ];
  for (const run of cases) assert.is(refusal(run), 'No signature fits any of the keys.');
});

test('an old attempt that is sent again is refused, and one from the future too', () => {
  const at = (milliseconds: number) => () =>
    verifyWebhook(body, headersOf(), [secret], { now: milliseconds });
  assert.ok(at(now + 300_000)());
  assert.ok(at(now - 300_000)());
  assert.match(refusal(at(now + 301_000)), /too old/);
  assert.match(refusal(at(now - 301_000)), /too old/);
  assert.ok(
    verifyWebhook(body, headersOf(), [secret], { now: now + 500_000, toleranceSeconds: 600 }),
  );
});

test('missing and malformed headers are refused', () => {
  for (const name of Object.keys(headersOf())) {
    const run = () => verifyWebhook(body, headersOf({ [name]: undefined }), [secret], { now });
    assert.match(refusal(run), new RegExp(name));
  }
  for (const time of ['soon', '-1', '1e9', '1.5', ' 1']) {
    const run = () =>
      verifyWebhook(body, headersOf({ 'webhook-timestamp': time }), [secret], { now });
    assert.match(refusal(run), /webhook-timestamp/);
  }
  const run = () => verifyWebhook(body, headersOf({ 'webhook-sequence': 'x' }), [secret], { now });
  assert.match(refusal(run), /webhook-sequence/);
});

test('what is signed but no event is refused', () => {
  for (const text of ['', '[]', 'null', '{}', '{']) {
    const headers = headersOf({
      'webhook-signature': signature(secret, `evt_0000000000001_0.${seconds}.${text}`),
    });
    const run = () => verifyWebhook(Buffer.from(text), headers, [secret], { now });
    assert.match(refusal(run), /The body is no/);
  }
});

test('a signature by a private key is checked with the public one', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const key = `whpk_${raw.toString('base64')}`;
  const signed = sign(
    null,
    Buffer.from(`evt_0000000000001_0.${seconds}.${body}`),
    privateKey,
  ).toString('base64');
  const headers = headersOf({ 'webhook-signature': `v1a,${signed}` });
  assert.ok(verifyWebhook(body, headers, [key], { now }));
  const changed = Buffer.concat([body, Buffer.from(' ')]);
  assert.match(
    refusal(() => verifyWebhook(changed, headers, [key], { now })),
    /No signature/,
  );
  // A shared secret must not be fooled by a signature of the other kind.
  assert.match(
    refusal(() => verifyWebhook(body, headers, [secret], { now })),
    /No signature/,
  );
});

test('a key that is none is a mistake of the program, not of the sender', () => {
  for (const key of ['', 'whsec_', 'whpk_AAAA']) {
    try {
      verifyWebhook(body, headersOf(), [key], { now });
      assert.unreachable(key);
    } catch (error) {
      assert.instance(error, TypeError, key);
    }
  }
});

test.run();
