import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { messageId, messagePosition } from '../define/message-id.ts';
import { decodeHeader, encodeHeader, publicMessages } from './message.ts';
import { readPlace, readPublicMessage } from './public-message.ts';
import { boxEvent } from './test-box.ts';

const test = suite('public messages, any');

const position = fc.bigInt(0n, (1n << 64n) - 1n);
const index = fc.integer({ min: 0, max: 9_999 });

test('ids sort as the log does', () => {
  fc.assert(
    fc.property(position, index, position, index, (position1, index1, position2, index2) => {
      const first = messageId(position1, index1);
      const second = messageId(position2, index2);
      const before = position1 < position2 || (position1 === position2 && index1 < index2);
      const same = position1 === position2 && index1 === index2;
      assert.is(first < second, before);
      assert.is(first === second, same);
    }),
  );
});

test('ids of one event sort as its messages do, however many', () => {
  fc.assert(
    fc.property(position, index, index, (place, first, second) => {
      const isBefore = messageId(place, first) < messageId(place, second);
      assert.is(isBefore, first < second);
    }),
  );
});

test('ids of the first ten messages are evt_, 13 digits and the plain index', () => {
  fc.assert(
    fc.property(position, fc.integer({ min: 0, max: 9 }), (place, nth) => {
      assert.is(messagePosition(messageId(place, nth)), place);
      assert.match(messageId(place, nth), /^evt_[0-9A-HJKMNP-TV-Z]{13}_[0-9]$/);
    }),
  );
  assert.is(messageId(33n, 0), 'evt_0000000000011_0');
  for (const no of ['', 'evt_1_0', 'evt_00000000000U1_0', 'cust_0000000000011_0']) {
    assert.is(messagePosition(no), null, no);
  }
  assert.throws(() => messageId(-1n, 0), /no position/);
  assert.throws(() => messageId(1n, 10_000), /no index/);
});

test('any text is safe as a header and comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const value = encodeHeader(text);
      assert.match(value, /^[\x21-\x7e]*$/);
      assert.is(decodeHeader(value), text.toWellFormed());
    }),
  );
});

test('what is published can be read', () => {
  const body = fc.dictionary(
    fc.string().filter((key) => key !== 'event_type' && key !== '__proto__'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(position, fc.nat(), body, fc.string(), (place, revision, given, correlation) => {
      const event = {
        ...boxEvent(['Watched'], correlation),
        stream: 'box-env_01.box1',
        revision,
        position: place,
      };
      const publications = [
        { type: 'box.created', resourceId: 'box1', body: {} },
        { type: 'box.content.emptied', resourceId: 'box1', body: given },
      ];
      const message = publicMessages(event, publications)[1]!;
      const raw = {
        sequence: 7,
        subject: message.subject,
        header: (name: string) => message.headers[name] ?? '',
        body: message.body,
      };
      const { body: bytes, ...read } = readPublicMessage(raw);
      assert.equal(read, {
        sequence: 7,
        position: place,
        index: 1,
        count: 2,
        id: messageId(place, 1),
        type: 'box.content.emptied',
        tenantId: 'tenant_01',
        environmentId: 'env_01',
        resourceId: 'box1',
        occurredAt: '2026-11-01T12:00:00.000Z',
        stream: 'box-env_01.box1',
        revision,
        correlationId: correlation.toWellFormed(),
        isTruncated: false,
      });
      const text = JSON.stringify({ event_type: 'box.content.emptied', ...given });
      assert.is(new TextDecoder().decode(bytes), text);
      assert.is(readPlace(raw).count, 2);
    }),
  );
});

test.run();
