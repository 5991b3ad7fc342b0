import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { InHand } from './in-hand.ts';

const test = suite('messages in hand');

const limits = { messages: 5, bytes: 100, tenantMessages: 3, tenantBytes: 40 };
const codeOf = (inHand: InHand, tenant: string, bytes: number) =>
  inHand.enter(tenant, bytes)?.code ?? 'taken';

test('a tenant that has sent too many waits, and no other does', () => {
  const inHand = new InHand(limits);
  assert.equal(
    [1, 1, 1, 1].map((bytes) => codeOf(inHand, 'a', bytes)),
    ['taken', 'taken', 'taken', 'too_many_requests'],
  );
  assert.is(codeOf(inHand, 'b', 1), 'taken');
  inHand.leave('a', 1);
  assert.is(codeOf(inHand, 'a', 1), 'taken');
});

test('a tenant that has sent too much waits, until that is answered', () => {
  const inHand = new InHand(limits);
  assert.equal([codeOf(inHand, 'a', 40), codeOf(inHand, 'a', 1)], ['taken', 'too_many_requests']);
  inHand.leave('a', 40);
  assert.is(codeOf(inHand, 'a', 1), 'taken');
});

test('what all together have sent is bounded too, in number and in bytes', () => {
  const many = new InHand(limits);
  for (const tenant of ['a', 'a', 'b', 'b', 'c']) assert.is(codeOf(many, tenant, 1), 'taken');
  assert.is(codeOf(many, 'd', 1), 'service_unavailable');
  assert.is(many.messages, 5);
  const large = new InHand(limits);
  for (const tenant of ['a', 'b']) assert.is(codeOf(large, tenant, 40), 'taken');
  assert.is(codeOf(large, 'c', 21), 'service_unavailable');
  assert.is(codeOf(large, 'c', 20), 'taken');
});

test.run();
