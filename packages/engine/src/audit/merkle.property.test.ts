import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  consistencyRanges,
  emptyFrontier,
  inclusionRanges,
  leafHash,
  RangeHasher,
  rootOf,
  TreeBuilder,
} from './merkle.ts';

const test = suite('merkle');

const hash = (hexadecimal: string): string =>
  createHash('sha256').update(Buffer.from(hexadecimal, 'hex')).digest('hex');

/** The definition of RFC 6962 §2.1, word for word. */
function plainRoot(leaves: readonly string[]): string {
  if (leaves.length === 0) return hash('');
  const [only = ''] = leaves;
  if (leaves.length === 1) return hash(`00${Buffer.from(only).toString('hex')}`);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return hash(`01${plainRoot(leaves.slice(0, k))}${plainRoot(leaves.slice(k))}`);
}

/** The root that a leaf and its proof lead to: RFC 6962 §2.1.1, read backwards. */
function rootFromInclusion(
  leaf: string,
  index: number,
  size: number,
  proof: readonly string[],
): string {
  if (size <= 1) return leaf;
  let k = 1;
  while (k * 2 < size) k *= 2;
  const [rest, step = ''] = [proof.slice(0, -1), proof.at(-1)];
  return index < k
    ? hash(`01${rootFromInclusion(leaf, index, k, rest)}${step}`)
    : hash(`01${step}${rootFromInclusion(leaf, index - k, size - k, rest)}`);
}

const treeOf = (leaves: readonly string[], before = emptyFrontier) => {
  const builder = new TreeBuilder(before);
  for (const leaf of leaves) builder.add(leafHash(leaf));
  return builder.frontier();
};

const hashesOf = (leaves: readonly string[], ranges: ReturnType<typeof inclusionRanges>) => {
  const hasher = new RangeHasher(ranges);
  for (const leaf of leaves) hasher.add(leafHash(leaf));
  return hasher.hashes();
};

/** RFC 9162 §2.1.4.2, word for word: a proof that one tree begins with another. */
function isConsistent(
  [first, firstRoot]: readonly [number, string],
  [second, secondRoot]: readonly [number, string],
  proof: readonly string[],
): boolean {
  if (first === second) return proof.length === 0 && firstRoot === secondRoot;
  const path = Number.isInteger(Math.log2(first)) ? [firstRoot, ...proof] : [...proof];
  let [fn, sn] = [first - 1, second - 1];
  while (fn % 2 === 1) [fn, sn] = [fn >> 1, sn >> 1];
  let [fr = '', sr = ''] = [path[0], path[0]];
  for (const c of path.slice(1)) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [hash(`01${c}${fr}`), hash(`01${c}${sr}`)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else {
      sr = hash(`01${sr}${c}`);
    }
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return fr === firstRoot && sr === secondRoot && sn === 0;
}

const leaves = fc.array(fc.string(), { minLength: 1, maxLength: 70 });

test('the root of the tree without leaves is the hash of nothing', () => {
  assert.is(rootOf(emptyFrontier), plainRoot([]));
});

test('a tree that grew in two steps has the root of the definition', () => {
  fc.assert(
    fc.property(leaves, fc.nat(70), (all, cut) => {
      const grown = treeOf(all.slice(cut), treeOf(all.slice(0, cut)));
      assert.is(grown.size, all.length);
      assert.is(rootOf(grown), plainRoot(all));
    }),
  );
});

test('every leaf is proved to be in the tree, and no other leaf, place or step is', () => {
  fc.assert(
    fc.property(leaves, fc.nat(), (all, number) => {
      const index = number % all.length;
      const proof = hashesOf(all, inclusionRanges(index, all.length));
      const rootWith = (leaf: string, place: number, steps = proof) =>
        rootFromInclusion(leafHash(leaf), place, all.length, steps);
      const leaf = all[index] ?? '';
      assert.is(rootWith(leaf, index), plainRoot(all));
      assert.is.not(rootWith(`${leaf}x`, index), plainRoot(all));
      for (const [step] of proof.entries()) {
        const changed = proof.with(step, leafHash('another'));
        assert.is.not(rootWith(leaf, index, changed), plainRoot(all));
      }
    }),
  );
});

test('every tree is proved to be the beginning of every later one, and no other tree is', () => {
  fc.assert(
    fc.property(leaves, fc.nat(), (all, number) => {
      const from = 1 + (number % all.length);
      const earlier = all.slice(0, from);
      const proof = hashesOf(all, consistencyRanges(from, all.length));
      const now = [all.length, plainRoot(all)] as const;
      assert.ok(isConsistent([from, plainRoot(earlier)], now, proof));
      const rewritten = [...earlier.slice(0, -1), `${earlier.at(-1)}x`];
      assert.not(isConsistent([from, plainRoot(rewritten)], now, proof));
    }),
  );
});

test('a proof is not made from fewer leaves than it is about', () => {
  assert.throws(() => hashesOf(['a'], inclusionRanges(0, 3)), RangeError);
});

test('a frontier that does not fit its size is refused', () => {
  assert.throws(() => new TreeBuilder({ size: 3, peaks: [leafHash('a')] }), RangeError);
});

test.run();
