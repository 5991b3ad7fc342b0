import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Level, selectFiles, type TestFile } from './discover.ts';

const test = suite('choosing test files');

const levels: Readonly<Record<string, Level>> = {
  'packages/a/wallet.test.ts': 'unit',
  'packages/a/wallet.it.test.ts': 'it',
  'packages/a/wallet.long.test.ts': 'long',
  'packages/b/coupon.test.ts': 'unit',
  'packages/testkit/src/tidy.test.ts': 'unit',
};
const files = Object.entries(levels).map(([path, level]): TestFile => ({ path, level }));

/** Words of a command line, and the files that they choose. */
const cases: readonly [words: string, chosen: readonly string[]][] = [
  ['', ['a/wallet', 'a/wallet.it', 'b/coupon', 'testkit/src/tidy']],
  ['unit', ['a/wallet', 'b/coupon', 'testkit/src/tidy']],
  ['it', ['a/wallet.it']],
  ['long', ['a/wallet.long']],
  ['tidy', ['testkit/src/tidy']],
  ['wallet', ['a/wallet', 'a/wallet.it']],
  ['wallet unit', ['a/wallet']],
  ['wallet unit it', ['a/wallet', 'a/wallet.it']],
  ['wallet long', ['a/wallet.long']],
  ['packages/a/wallet.long', ['a/wallet.long']],
  ['a/ coupon', []],
  ['coupon,tidy', ['b/coupon', 'testkit/src/tidy']],
  ['packages/a,tidy wallet.test', ['a/wallet']],
];

for (const [words, chosen] of cases) {
  test(`by "${words}"`, () => {
    const paths = selectFiles(files, words.split(' ').filter(Boolean)).map(({ path }) => path);
    assert.equal(
      paths,
      chosen.map((name) => `packages/${name}.test.ts`),
    );
  });
}

test.run();
