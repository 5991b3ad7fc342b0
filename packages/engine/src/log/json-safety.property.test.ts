import { canonicalJson } from '@counterfoil/kernel';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { safeJson } from './json-safety.ts';

const test = suite('json-safety properties');

const outcome = (work: () => string): string | null => {
  try {
    return work();
  } catch {
    return null;
  }
};

test('what is stored has the canonical form that was hashed', () => {
  void fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const stored = outcome(() => safeJson(value, 'data'));
      const hashed = outcome(() => canonicalJson(value));
      assert.is(stored === null ? null : canonicalJson(JSON.parse(stored)), hashed);
    }),
  );
});

test('nothing passes that is read back as another value', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
  });
  void fc.assert(
    fc.property(anything, (value) => {
      const stored = outcome(() => safeJson(value, 'data'));
      if (stored !== null) assert.is(safeJson(JSON.parse(stored), 'data'), stored);
    }),
    { numRuns: 500 },
  );
});

test.run();
