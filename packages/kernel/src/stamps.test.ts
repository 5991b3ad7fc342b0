import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Metadata, metadataSchema } from './stamps.ts';

const test = suite('metadata');

const pairs = (count: number, value: unknown): Metadata =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`key${index}`, value]),
  ) as Metadata;

const messages = (value: unknown): readonly string[] =>
  metadataSchema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

test('has up to 50 pairs', () => {
  assert.equal(metadataSchema.parse(pairs(50, 'x')), pairs(50, 'x'));
  assert.equal(messages(pairs(51, 'x')), ['must have at most 50 keys']);
});

test('is counted before a value of it is looked at', () => {
  assert.equal(messages(pairs(51, 1)), ['must have at most 50 keys']);
});

test('names the first value that is no text, however many there are', () => {
  const { error } = metadataSchema.safeParse({ a: 'x', ...pairs(49, 1) });
  assert.equal(
    error?.issues.map(({ path, message }) => [path.join(), message]),
    [['key0', 'must be a string']],
  );
});

test('is an object', () => {
  for (const value of [null, 'x', ['x'], undefined]) assert.is(messages(value).length, 1);
});

test.run();
