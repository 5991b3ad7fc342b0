import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keyOf, listKeySchema, placeOf } from './list-place.ts';

const test = suite('places in lists of usage events');

test('a key leads back to its place', () => {
  for (const place of [
    { at: '2026-01-31T12:00:00.000Z', position: '48213', number: '0' },
    { at: '0001-01-01T00:00:00.000Z', position: '0', number: '999999999' },
    { at: '9999-12-31T23:59:59.999Z', position: '9223372036854775807', number: '7' },
  ]) {
    assert.equal(placeOf(keyOf(place)), place);
    assert.is(listKeySchema.parse(keyOf(place)), keyOf(place));
  }
});

for (const [name, key] of [
  ['nothing', ''],
  ['another text', '000'],
  ['a month that there is not', '2024-13-01T00:00:00.000Z.1.1'],
  ['a day that there is not', '2024-02-31T00:00:00.000Z.1.1'],
  ['an hour that there is not', '2024-01-01T24:00:00.000Z.1.1'],
  ['the year 0', '0000-01-01T00:00:00.000Z.1.1'],
  ['a position beyond all', '2024-01-01T00:00:00.000Z.9223372036854775808.1'],
  ['a number beyond all', '2024-01-01T00:00:00.000Z.1.9999999999'],
] as const) {
  test(`${name} is no key`, () => {
    assert.is(listKeySchema.safeParse(key).success, false);
  });
}

test.run();
