import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bodyBytesMaximum, publicMessages } from './message.ts';
import { readPublicMessage } from './public-message.ts';
import { storedBoxEvent } from './test-box.ts';

const test = suite('public messages');

const event = storedBoxEvent(['Filled', { amount: 1 }], { revision: 4, position: 1_000n });
const publication = {
  type: 'box.updated',
  resourceId: 'box1',
  body: { box: { id: 'box1', content: 1 } },
};
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test('a message is a CloudEvent in binary mode', () => {
  const [message] = publicMessages(event, [publication]);
  assert.equal(message?.headers, {
    'Nats-Msg-Id': 'evt_00000000000Z8_0',
    'ce-specversion': '1.0',
    'ce-id': 'evt_00000000000Z8_0',
    'ce-type': 'box.updated',
    'ce-source': '/tenants/tenant_01/environments/env_01',
    'ce-subject': 'box1',
    'ce-time': '2026-11-01T12:00:00.000Z',
    'ce-dataschema': '/v1/event-types/box.updated/schema',
    'ce-datacontenttype': 'application/json',
    'ce-sequence': '1000',
    'Billing-Position': '1000',
    'Billing-Stream': 'box-env_01.box1',
    'Billing-Revision': '4',
    'Billing-Correlation': 'req_01',
    'Billing-Causation': 'cause_01',
    'Billing-Index': '0',
    'Billing-Count': '1',
  });
  assert.is(message?.subject, 'billing.v1.tenant_01.env_01.box.box1.updated');
  assert.is(text(message!.body), '{"event_type":"box.updated","box":{"id":"box1","content":1}}');
});

test('each message of an event has its own id and index', () => {
  const messages = publicMessages(event, [publication, publication, publication]);
  assert.equal(
    messages.map(({ id, index, count }) => [id.slice(-2), index, count]),
    [
      ['_0', 0, 3],
      ['_1', 1, 3],
      ['_2', 2, 3],
    ],
  );
  assert.equal(
    messages.map(({ headers }) => [headers['Billing-Index'], headers['Billing-Count']]),
    [
      ['0', '3'],
      ['1', '3'],
      ['2', '3'],
    ],
  );
});

test('a body that is too long leaves the ids and a reference', () => {
  const body = {
    box: { id: 'box1', notes: 'ä'.repeat(bodyBytesMaximum / 2) },
    alert: { state: 'x' },
    transaction: { id: 'wtxn_1', notes: 'long' },
  };
  const [message] = publicMessages(event, [{ ...publication, body }]);
  assert.is(
    text(message!.body),
    '{"event_type":"box.updated","box":{"id":"box1"},"transaction":{"id":"wtxn_1"},"truncated":true}',
  );
  assert.is(message?.truncated, true);
  assert.is(message?.headers['ce-dataref'], '/v1/webhooks/messages/evt_00000000000Z8_0');
});

test('the longest body that fits goes out whole', () => {
  const frame = '{"event_type":"box.updated","notes":""}'.length;
  const notes = 'x'.repeat(bodyBytesMaximum - frame);
  const [message] = publicMessages(event, [{ ...publication, body: { notes } }]);
  assert.is(message?.truncated, false);
  assert.is(message?.body.length, bodyBytesMaximum);
  const [longer] = publicMessages(event, [{ ...publication, body: { notes: `${notes}x` } }]);
  assert.is(longer?.truncated, true);
});

test('what can never be published throws', () => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ resourceId: 'a.b' }, /cannot be part/],
    [{ type: 'box' }, /no tail/],
    [{ body: { event_type: 'other' } }, /event_type of its own/],
    [{ body: { amount: 1n } }, /BigInt/],
  ];
  for (const [change, reason] of refused) {
    assert.throws(() => publicMessages(event, [{ ...publication, ...change }]), reason);
  }
});

test('a message that the relay did not write is refused, whatever is wrong with it', () => {
  const [message] = publicMessages(event, [publication]);
  const read = (change: Readonly<Record<string, string>>, subject = message!.subject) =>
    readPublicMessage({
      sequence: 3,
      subject,
      header: (name) => ({ ...message!.headers, ...change })[name] ?? '',
      body: message!.body,
    });
  assert.is(read({}).sequence, 3);
  assert.throws(() => read({ 'Billing-Position': '' }), /message 3 .* no Billing-Position/);
  assert.throws(() => read({ 'Billing-Position': '-1' }), /position is -1/);
  assert.throws(() => read({ 'Billing-Index': '1e3' }), /Billing-Index is/);
  assert.throws(() => read({ 'ce-id': '' }), /no ce-id/);
  assert.throws(() => read({}, 'billing.v1.odd'), /subject is "billing.v1.odd"/);
});

test.run();
