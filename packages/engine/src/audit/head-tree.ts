import { canonicalJson } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import { type ChainHead, chainAfter } from '../log/hash-chain.ts';
import type { StoredEvent } from '../log/types.ts';
import { inclusionRanges, leafHash, RangeHasher, rootOf, TreeBuilder } from './merkle.ts';

/** The last event of each stream, by the name of the stream. */
export type Heads = Map<string, ChainHead>;

/** A tree over the last events of all streams, in the order of their names. */
export interface HeadTree {
  /** The number of streams. */
  readonly count: number;
  readonly root: string;
}

/** Proof that an event is the last one of its stream, and that stream's place among all. */
export interface HeadProof {
  readonly revision: number;
  readonly index: number;
  readonly path: readonly string[];
}

/** An event becomes the last one of its stream. */
export const moveHead = (heads: Heads, event: StoredEvent): unknown =>
  heads.set(event.stream, chainAfter(event));

/** Names in UTF-16 code unit order, and the leaf of each: the same as that of the event itself. */
function sortedLeaves(heads: Heads): { readonly names: string[]; readonly leaves: string[] } {
  const names = [...heads.keys()].sort();
  const leaves = names.map((stream) => leafHash(canonicalJson({ ...heads.get(stream), stream })));
  return { names, leaves };
}

const treeOver = (leaves: readonly string[]): HeadTree => {
  const builder = new TreeBuilder();
  for (const leaf of leaves) builder.add(leaf);
  return { count: leaves.length, root: rootOf(builder.frontier()) };
};

/** The tree over heads. Its root fixes which event is the last one of each stream. */
export const headTree = (heads: Heads): HeadTree => treeOver(sortedLeaves(heads).leaves);

/** The tree, and the proof for one of the streams; null for a stream that is not in it. */
export function headProof(
  heads: Heads,
  stream: string,
): { readonly tree: HeadTree; readonly proof: HeadProof | null } {
  const { names, leaves } = sortedLeaves(heads);
  const tree = treeOver(leaves);
  const [index, head] = [names.indexOf(stream), heads.get(stream)];
  if (!head) return { tree, proof: null };
  const hasher = new RangeHasher(inclusionRanges(index, tree.count));
  for (const leaf of leaves) hasher.add(leaf);
  return { tree, proof: { revision: head.revision, index, path: hasher.hashes() } };
}

/** Streams whose heads are kept between two checkpoints. */
const keptMaximum = 1_000_000;

/**
 * Keeps the heads of the streams of a prefix from one checkpoint to the next, so that the next one
 * reads only what has been added since. It may forget them at any time.
 */
export class HeadCache {
  readonly #kept = new LRUCache<string, { readonly position: string; readonly heads: Heads }>({
    maxSize: keptMaximum,
    sizeCalculation: ({ heads }) => heads.size + 1,
  });

  /** The heads of a prefix at a position of the log; null when they are not known. */
  take(prefix: string, position: string): Heads | null {
    const kept = this.#kept.get(prefix);
    this.#kept.delete(prefix);
    return kept?.position === position ? kept.heads : null;
  }

  keep(prefix: string, position: string, heads: Heads): void {
    this.#kept.set(prefix, { position, heads });
  }
}
