import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Instant,
  instantSchema,
  readInstant,
  shiftedBy,
  startOfCompactDate,
} from './instant.ts';

const test = suite('instants');

test('any offset is read, UTC with milliseconds is given', () => {
  assert.is(readInstant('2026-02-28T23:30:00-01:00'), '2026-03-01T00:30:00.000Z');
  assert.is(readInstant('2026-01-01t00:00:00.123456789z'), '2026-01-01T00:00:00.123Z');
  assert.is(instantSchema.parse('2024-02-29T00:00:00Z'), '2024-02-29T00:00:00.000Z');
});

test('the first and the last instant are those of the years 1 and 9999 in UTC', () => {
  assert.is(readInstant('0001-01-01T00:00:00Z'), '0001-01-01T00:00:00.000Z');
  assert.is(readInstant('0001-01-01T00:00:00+00:01'), null);
  assert.is(readInstant('0000-12-31T23:59:59-00:01'), '0001-01-01T00:00:59.000Z');
  assert.is(readInstant('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59.999Z');
  assert.is(readInstant('9999-12-31T23:59:59-00:01'), null);
  assert.is(readInstant('0000-06-01T00:00:00Z'), null);
});

test('what names no instant is refused', () => {
  const wrong = [
    '2025-02-31T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2025-01-01T24:00:00Z',
    '2025-01-01T00:60:00Z',
    '2025-01-01T00:00:60Z',
    '2025-01-01T00:00:00',
    '2025-01-01 00:00:00Z',
    '2025-01-01',
    '+002025-01-01T00:00:00Z',
    ' 2025-01-01T00:00:00Z',
    '',
  ];
  assert.equal(
    wrong.filter((text) => readInstant(text) !== null || instantSchema.safeParse(text).success),
    [],
  );
});

test('a day is one of the calendar exactly when the runtime finds it there', () => {
  for (const year of ['0001', '1900', '2000', '2023', '2024', '9999']) {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        const milliseconds = Date.parse(`${text}T00:00:00.000Z`);
        const isOne =
          !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text);
        assert.is(readInstant(`${text}T12:00:00.000Z`) !== null, isOne, text);
      }
    }
  }
});

test('a compact date is the first instant of its day, if the calendar has the day', () => {
  assert.is(startOfCompactDate(20240229), '2024-02-29T00:00:00.000Z');
  assert.equal([20250231, 20250229, 20251301, 2025, -20250101, 202501011].map(startOfCompactDate), [
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
});

test('time does not leave the years that can be written', () => {
  const [first, last] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'] as Instant[];
  assert.is(shiftedBy(first as Instant, -1), first);
  assert.is(shiftedBy(last as Instant, 1), last);
  assert.is(shiftedBy(first as Instant, 1), '0001-01-01T00:00:00.001Z');
});

test.run();
