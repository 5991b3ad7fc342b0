import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { flag, listOf, portNumber, wholeNumber } from './variables.ts';

const test = suite('variables');

const isTaken = (schema: z.ZodType, text: string): boolean => schema.safeParse(text).success;

test('a whole number has digits alone and lies within its bounds', () => {
  const schema = wholeNumber(1, 4_000);
  assert.equal([schema.parse('1'), schema.parse('4000')], [1, 4_000]);
  for (const text of ['0', '4001', '-1', '4e3', ' 4', '1.0', '0x10', '', 'one']) {
    assert.not.ok(isTaken(schema, text), text);
  }
});

test('a port may be 0, which takes a free one', () => {
  assert.is(portNumber.parse('0'), 0);
  assert.not.ok(isTaken(portNumber, '65536'));
});

test('a flag is true or false, and no other word', () => {
  assert.equal([flag.parse('true'), flag.parse('false')], [true, false]);
  for (const text of ['yes', '1', 'TRUE', '']) assert.not.ok(isTaken(flag, text), text);
});

test('a list has commas between its items, each of which is checked', () => {
  const schema = listOf(wholeNumber(1, 9), 3);
  assert.equal(schema.parse('1, 2,3'), [1, 2, 3]);
  for (const text of ['1,,2', '1,10', '1,2,3,4']) assert.not.ok(isTaken(schema, text), text);
});

test.run();
