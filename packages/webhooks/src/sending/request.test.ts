import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { thinBody } from './request.ts';

const test = suite('thin body');

const thin = (body: unknown) =>
  JSON.parse(thinBody(Buffer.from(JSON.stringify(body))).toString('utf8'));

test('of each record the id is left, in the same order', () => {
  const body = {
    event_type: 'wallet.created',
    wallet: { id: 'wallet_1', name: 'Zoë', customer: { id: 'cust_1' } },
    customer: { name: 'x', id: 'cust_1' },
  };
  const text = thinBody(Buffer.from(JSON.stringify(body))).toString('utf8');
  assert.is(
    text,
    '{"event_type":"wallet.created","wallet":{"id":"wallet_1"},"customer":{"id":"cust_1"}}',
  );
});

test('what is no record stays', () => {
  const body = { event_type: 'x', alert: { state: 'ok' }, list: [1], none: null, truncated: true };
  assert.equal(thin(body), body);
});

test.run();
