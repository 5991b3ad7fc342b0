import type { Instant } from '@counterfoil/kernel';
import { canonicalJson } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { monthOf } from './month.ts';
import { identityOf, isRepetition, textsOf, type UsageEvent } from './usage-event.ts';

const test = suite('usage events');

const at = '2026-01-01T00:00:00.000Z' as Instant;
const event: UsageEvent = {
  event_id: 'one',
  event_name: 'tokens',
  external_customer_id: 'acme',
  timestamp: at,
  properties: { model: 'large', count: 1 },
};

const identified = (one: UsageEvent) => identityOf(one, textsOf(one));

const later = '2026-01-02T00:00:00.000Z' as Instant;
const others: readonly [string, Partial<UsageEvent>, boolean][] = [
  ['the same', {}, true],
  [
    'the same with its members in another order',
    { properties: { count: 1, model: 'large' } },
    true,
  ],
  ['the same, sent without a timestamp', { timestamp: later, timestamp_assigned: true }, true],
  ['another timestamp', { timestamp: later }, false],
  ['another property', { properties: { model: 'large', count: 2 } }, false],
  ['a number as text', { properties: { model: 'large', count: '1' } }, false],
  ['another name', { event_name: 'calls' }, false],
  ['another customer', { external_customer_id: 'other' }, false],
  ['a source', { source: 'gateway' }, false],
];

for (const [what, changes, expected] of others) {
  test(`${what} ${expected ? 'repeats' : 'contradicts'} the first`, () => {
    const known = { content: identified(event).content, timestamp: at };
    const other = { ...event, ...changes };
    assert.is(isRepetition(known, identified(other), other), expected);
    assert.is(identified(other).id, identified(event).id);
  });
}

const anyText = fc.string({ unit: 'grapheme' });
const anyEvent = fc.record(
  {
    event_id: anyText,
    event_name: anyText,
    external_customer_id: anyText,
    timestamp: fc.constantFrom(at, later),
    customer_id: anyText,
    source: anyText,
    timestamp_assigned: fc.boolean(),
    properties: fc.dictionary(fc.oneof(anyText, fc.constantFrom('10', '9', 'a')), fc.jsonValue()),
  },
  { requiredKeys: ['event_id', 'event_name', 'external_customer_id', 'timestamp'] },
);

test('the texts of an event are the canonical JSON of it and its parts', () => {
  fc.assert(
    fc.property(anyEvent, (given) => {
      const one = given as UsageEvent;
      const { event_id: _, timestamp: __, timestamp_assigned: ___, ...content } = one;
      const properties = one.properties === undefined ? null : canonicalJson(one.properties);
      const whole = canonicalJson(one);
      assert.equal(textsOf(one), { properties, content: canonicalJson(content), whole });
    }),
  );
});

const months: readonly [string, string, string | null][] = [
  ['2026-01-15T00:00:00.000Z', '2026-01-20T00:00:00.000Z', 'event_2026_01'],
  ['2026-02-01T00:30:00.000Z', '2026-01-31T23:59:00.000Z', 'event_2026_02'],
  ['2026-03-01T00:00:00.000Z', '2026-01-31T23:59:00.000Z', null],
  ['2027-01-01T00:00:00.000Z', '2026-12-31T23:59:00.000Z', 'event_2027_01'],
  ['9999-11-30T00:00:00.000Z', '9999-12-31T23:59:59.999Z', 'event_9999_11'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z', null],
  ['2019-12-31T23:59:59.999Z', '2026-01-20T00:00:00.000Z', null],
];

for (const [timestamp, recordedAt, name] of months) {
  test(`${timestamp}, recorded at ${recordedAt}, stands in ${name ?? 'the rest'}`, () =>
    assert.is(monthOf(timestamp, recordedAt)?.name ?? null, name));
}

test('a month ends where the next one begins', () => {
  const month = monthOf('2026-12-31T23:59:59.999Z', '2026-12-31T23:59:59.999Z');
  assert.equal([month?.from, month?.to], ['2026-12-01', '2027-01-01']);
});

test.run();
