/**
 * Merkle trees as of RFC 6962, over leaves that are only ever added at the end. Whoever holds the
 * root of a tree can check that a leaf is in it, and that a later tree begins with it, from a
 * number of hashes that grows with the logarithm of the size. Nothing here keeps the leaves.
 */
import { createHash } from 'node:crypto';

/** A SHA-256 as 64 lower-case hexadecimal digits. */
type Hash = string;

const sha256 = (...parts: readonly (string | Buffer)[]): Hash => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);

/** Hash of a leaf. Its prefix keeps a leaf from ever passing for a node. */
export const leafHash = (text: string): Hash => sha256(leafPrefix, text);

const nodeHash = (left: Hash, right: Hash): Hash =>
  sha256(nodePrefix, Buffer.from(left, 'hex'), Buffer.from(right, 'hex'));

/** Root of the tree without leaves. */
export const emptyRoot: Hash = sha256('');

/** A whole subtree of 2^level leaves. */
interface Peak {
  readonly level: number;
  readonly hash: Hash;
}

/**
 * A tree that can grow and tell its root, without its leaves: its size and the hashes of the
 * largest whole subtrees from left to right, at most one per bit of the size.
 */
export interface TreeFrontier {
  readonly size: number;
  readonly peaks: readonly Hash[];
}

/** The frontier of the tree of nothing. */
export const emptyFrontier: TreeFrontier = { size: 0, peaks: [] };

/** Adds leaves one by one in place, for trees that are read from a log. */
export class TreeBuilder {
  #size: number;
  readonly #peaks: Peak[];

  constructor({ size, peaks }: TreeFrontier = emptyFrontier) {
    this.#size = size;
    const levels = levelsOf(size);
    if (levels.length !== peaks.length) throw new RangeError(`${size} leaves have other peaks`);
    this.#peaks = peaks.map((hash, index) => ({ level: levels[index] ?? 0, hash }));
  }

  /** Adds the leaf with this hash at the end. */
  add(hash: Hash): void {
    let peak: Peak = { level: 0, hash };
    for (let last = this.#peaks.at(-1); last?.level === peak.level; last = this.#peaks.at(-1)) {
      this.#peaks.pop();
      peak = { level: peak.level + 1, hash: nodeHash(last.hash, peak.hash) };
    }
    this.#peaks.push(peak);
    this.#size += 1;
  }

  frontier(): TreeFrontier {
    return { size: this.#size, peaks: this.#peaks.map(({ hash }) => hash) };
  }
}

/** The levels of the whole subtrees of a tree, from left to right: the bits of its size. */
function levelsOf(size: number): readonly number[] {
  const bits = size.toString(2);
  return [...bits].flatMap((bit, index) => (bit === '1' ? [bits.length - 1 - index] : []));
}

/** The root of a tree. */
export const rootOf = ({ peaks }: TreeFrontier): Hash =>
  peaks.length === 0 ? emptyRoot : peaks.reduceRight((right, left) => nodeHash(left, right));

/** Leaves from `start` up to and without `end`. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

const half = (size: number): number => {
  let middle = 1;
  while (middle * 2 < size) middle *= 2;
  return middle;
};

/** The subtrees whose hashes prove that a leaf is in a tree of a size, in the order of the proof. */
export function inclusionRanges(index: number, size: number, start = 0): readonly LeafRange[] {
  if (size <= 1) return [];
  const middle = half(size);
  const [left, right] = [
    { start, end: start + middle },
    { start: start + middle, end: start + size },
  ];
  return index < middle
    ? [...inclusionRanges(index, middle, start), right]
    : [...inclusionRanges(index - middle, size - middle, start + middle), left];
}

/** The subtrees whose hashes prove that a tree of one size is the beginning of a larger one. */
export function consistencyRanges(from: number, size: number): readonly LeafRange[] {
  const ranges = (m: number, n: number, start: number, isKnown: boolean): readonly LeafRange[] => {
    if (m >= n) return isKnown ? [] : [{ start, end: start + n }];
    const middle = half(n);
    const right = { start: start + middle, end: start + n };
    return m <= middle
      ? [...ranges(m, middle, start, isKnown), right]
      : [...ranges(m - middle, n - middle, right.start, false), { start, end: right.start }];
  };
  return from === 0 ? [] : ranges(from, size, 0, true);
}

/**
 * Hashes of subtrees, taken from leaves that pass by once in order. The number of ranges of a proof
 * is small, so nothing grows with the number of leaves.
 */
export class RangeHasher {
  readonly #ranges: readonly { readonly range: LeafRange; readonly builder: TreeBuilder }[];
  #next = 0;

  constructor(ranges: readonly LeafRange[]) {
    this.#ranges = ranges.map((range) => ({ range, builder: new TreeBuilder() }));
  }

  add(hash: Hash): void {
    for (const { range, builder } of this.#ranges) {
      if (this.#next >= range.start && this.#next < range.end) builder.add(hash);
    }
    this.#next += 1;
  }

  /** The hashes in the order of the ranges. Throws a RangeError when leaves are missing. */
  hashes(): readonly Hash[] {
    return this.#ranges.map(({ range, builder }) => {
      const frontier = builder.frontier();
      if (frontier.size !== range.end - range.start) throw new RangeError('leaves are missing');
      return rootOf(frontier);
    });
  }
}
