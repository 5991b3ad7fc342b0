import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { naturalKeys } from './keys.ts';

const test = suite('natural keys');
const named = (name: string, unique: string | null = null) => ({ unique, name });

test('a record is called by its unique value, else by its name', () => {
  assert.equal(naturalKeys([named('Pro', 'pro'), named('Free')]), ['pro', 'Free']);
});

test('later records of one name are numbered', () => {
  const keys = naturalKeys([named('T'), named('T'), named('T')]);
  assert.equal(keys, ['T', 'T #2', 'T #3']);
});

test('a number is not given that is the name of another', () => {
  assert.equal(naturalKeys([named('T'), named('x', 'T #2'), named('T')]), ['T', 'T #2', 'T #3']);
});

test('a name gives way to a unique value, wherever that stands', () => {
  assert.equal(naturalKeys([named('pro'), named('Pro', 'pro')]), ['pro #2', 'pro']);
});

test.run();
