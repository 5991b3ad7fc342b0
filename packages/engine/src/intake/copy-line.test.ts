import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { copyLine } from './copy-line.ts';

const test = suite('rows by COPY');

test('values stand between tabs, and nothing is told from an empty text', () => {
  assert.is(copyLine(['a', 1, 2n, true, null, '']), 'a\t1\t2\ttrue\t\\N\t\n');
});

test('what would end a value or a row is escaped', () => {
  assert.is(copyLine(['a\tb\nc\rd\\e', '\\N']), 'a\\tb\\nc\\rd\\\\e\t\\\\N\n');
});

test.run();
