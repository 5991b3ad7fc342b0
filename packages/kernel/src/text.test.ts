import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { metadataSchema } from './stamps.ts';
import { clearable, emailSchema, requiredTextSchema, textSchema } from './text.ts';

const test = suite('text');

test('length counts code points, not UTF-16 units', () => {
  assert.ok(textSchema(2).safeParse('👩🏽').success, 'two code points in four units');
  assert.not.ok(textSchema(1).safeParse('👩🏽').success);
  assert.not.ok(textSchema(3).safeParse('abcd').success);
});

test('required text is neither empty nor blank', () => {
  assert.not.ok(requiredTextSchema(9).safeParse('').success);
  assert.not.ok(requiredTextSchema(9).safeParse(' \t').success);
  assert.is(requiredTextSchema(9).parse(' a '), ' a ');
});

test('e-mail addresses', () => {
  for (const good of ['ada@example.com', 'a+b/c@sub.example.co', 'zoë@example.org']) {
    assert.ok(emailSchema.safeParse(good).success, good);
  }
  for (const bad of ['ada', 'ada@', '@example.com', 'ada@example', 'a b@example.com', 'a@@b.co']) {
    assert.not.ok(emailSchema.safeParse(bad).success, bad);
  }
  assert.not.ok(emailSchema.safeParse(`${'a'.repeat(250)}@b.co`).success);
});

test('an empty string and null both clear', () => {
  assert.is(clearable(emailSchema).parse(''), null);
  assert.is(clearable(emailSchema).parse(null), null);
  assert.is(clearable(emailSchema).parse('a@b.co'), 'a@b.co');
});

test('metadata is bounded', () => {
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, '']));
  assert.ok(metadataSchema.safeParse(pairs(50)).success);
  assert.not.ok(metadataSchema.safeParse(pairs(51)).success);
  assert.not.ok(metadataSchema.safeParse({ '': 'x' }).success);
  assert.not.ok(metadataSchema.safeParse({ ['k'.repeat(65)]: 'x' }).success);
  assert.not.ok(metadataSchema.safeParse({ key: 'x'.repeat(1025) }).success);
  assert.not.ok(metadataSchema.safeParse({ key: 1 }).success);
});

test.run();
