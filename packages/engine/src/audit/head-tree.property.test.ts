import { canonicalJson } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Heads, headProof, headTree } from './head-tree.ts';
import { inclusionRanges, leafHash, RangeHasher } from './merkle.ts';

const test = suite('tree of last events');

const headsOf = (entries: readonly (readonly [string, number])[]): Heads =>
  new Map(entries.map(([stream, revision]) => [stream, { revision, hash: `hash of ${revision}` }]));

const entries = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.nat(9)), {
  minLength: 1,
  maxLength: 40,
  selector: ([stream]) => stream,
});

test('it does not depend on the order in which streams came', () => {
  fc.assert(
    fc.property(entries, (all) => {
      assert.equal(headTree(headsOf(all)), headTree(headsOf(all.toReversed())));
    }),
  );
});

test('another last event, or one stream less, is another tree', () => {
  fc.assert(
    fc.property(entries, (all) => {
      const [first, ...rest] = all;
      if (!first) return;
      const { root } = headTree(headsOf(all));
      assert.is.not(root, headTree(headsOf([[first[0], first[1] + 1], ...rest])).root);
      assert.is.not(root, headTree(headsOf(rest)).root);
    }),
  );
});

test('each stream has its proof, at its place among the names', () => {
  fc.assert(
    fc.property(entries, (all) => {
      const names = all.map(([stream]) => stream).sort();
      const heads = headsOf(all);
      const leaf = (stream = '') => leafHash(canonicalJson({ ...heads.get(stream), stream }));
      for (const [stream, revision] of all) {
        const { proof, tree } = headProof(heads, stream);
        assert.is(names[proof?.index ?? -1], stream);
        assert.is(proof?.revision, revision);
        const hasher = new RangeHasher(inclusionRanges(proof?.index ?? 0, tree.count));
        for (const name of names) hasher.add(leaf(name));
        assert.equal(proof?.path, hasher.hashes());
      }
      assert.is(headProof(heads, '').proof, null);
    }),
    { numRuns: 30 },
  );
});

test.run();
