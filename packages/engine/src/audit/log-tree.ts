import { canonicalJson } from '@counterfoil/kernel';
import { categoryPrefix, parseStreamName, type StreamParts } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import {
  HeadCache,
  type HeadProof,
  type Heads,
  type HeadTree,
  headProof,
  headTree,
  moveHead,
} from './head-tree.ts';
import {
  consistencyRanges,
  inclusionRanges,
  type LeafRange,
  leafHash,
  RangeHasher,
  rootOf,
  TreeBuilder,
  type TreeFrontier,
} from './merkle.ts';

/** A tree over the events of some streams, in the order of the log, and how far it reaches. */
export interface LogTree extends TreeFrontier {
  readonly root: string;
  /** Position of its last event, as text; "0" for the tree of nothing. */
  readonly position: string;
}

/**
 * The leaf of an event: stream, revision and hash. The hash covers everything else, and by the
 * chain everything before it in its stream, so a leaf gives nothing away.
 */
export const eventLeaf = ({ stream, revision, metadata }: StoredEvent): string =>
  leafHash(canonicalJson({ hash: metadata.hash, revision, stream }));

/** A tree that has grown, with the last event of each stream in it. */
export interface GrownTree extends LogTree {
  readonly heads: HeadTree;
}

/**
 * The tree extended by the events that streams with a prefix have received since it was built. Reads
 * only those when the cache has the heads of the streams, else all.
 */
export async function grownTree(
  store: EventStore,
  prefix: string,
  before: Pick<LogTree, 'size' | 'peaks' | 'position'>,
  cache: HeadCache = new HeadCache(),
): Promise<GrownTree> {
  const builder = new TreeBuilder(before);
  const grownFrom = BigInt(before.position);
  const known = cache.take(prefix, before.position);
  const heads: Heads = known ?? new Map();
  let { position } = before;
  const upTo = await store.head();
  const after = known ? grownFrom : 0n;
  for await (const event of store.readLog({ prefixes: [prefix], after, upTo })) {
    moveHead(heads, event);
    if (event.position <= grownFrom) continue;
    builder.add(eventLeaf(event));
    position = String(event.position);
  }
  cache.keep(prefix, position, heads);
  const frontier = builder.frontier();
  return { ...frontier, root: rootOf(frontier), position, heads: headTree(heads) };
}

/** The log no longer holds the events that a tree was built from. */
export class RewrittenLog extends Error {
  override readonly name = 'RewrittenLog';
}

/** Proof that the last event of a stream within a tree is in it. */
export interface InclusionProof {
  readonly revision: number;
  readonly index: number;
  readonly path: readonly string[];
}

/** The tree, the stream and the earlier tree that proofs are asked about. */
export interface ProofOptions {
  readonly prefix: string;
  readonly tree: Pick<LogTree, 'size' | 'root' | 'position'> & {
    readonly headsRoot: string;
  };
  readonly stream: string;
  /** Size of an earlier tree; null asks for no proof of consistency. */
  readonly from: number | null;
}

/** The proofs out of a tree. */
export interface LogProofs {
  /** Null when the tree has no event of the stream. */
  readonly inclusion: InclusionProof | null;
  readonly consistency: { readonly from: number; readonly path: readonly string[] } | null;
  /** That the event is the last one of its stream within the tree. */
  readonly head: HeadProof | null;
}

/**
 * Proofs out of a tree, from the log. Reads the streams of the prefix up to the position of the
 * tree, twice. Throws `RewrittenLog` when they no longer make this tree.
 */
export async function readProofs(store: EventStore, options: ProofOptions): Promise<LogProofs> {
  const { tree, stream, from } = options;
  const builder = new TreeBuilder();
  let last: { readonly revision: number; readonly index: number } | null = null;
  let index = 0;
  const heads: Heads = new Map();
  for await (const event of eventsOf(store, options)) {
    builder.add(eventLeaf(event));
    moveHead(heads, event);
    if (event.stream === stream) last = { revision: event.revision, index };
    index += 1;
  }
  const frontier = builder.frontier();
  const head = headProof(heads, stream);
  const isSame = rootOf(frontier) === tree.root && head.tree.root === tree.headsRoot;
  if (frontier.size !== tree.size || !isSame) {
    throw new RewrittenLog(
      `up to position ${tree.position} the log is not what was signed: ` +
        `${frontier.size} events instead of ${tree.size}, or others`,
    );
  }
  const inclusion = last ? inclusionRanges(last.index, tree.size) : [];
  const consistency = from === null ? [] : consistencyRanges(from, tree.size);
  const hashes = await hashesOf(eventsOf(store, options), [...inclusion, ...consistency]);
  const path = hashes.slice(0, inclusion.length);
  return {
    inclusion: last && { ...last, path },
    consistency: from === null ? null : { from, path: hashes.slice(inclusion.length) },
    head: head.proof,
  };
}

const eventsOf = (store: EventStore, { prefix, tree }: ProofOptions): AsyncIterable<StoredEvent> =>
  store.readLog({ prefixes: [prefix], after: 0n, upTo: BigInt(tree.position) as Position });

async function hashesOf(
  events: AsyncIterable<StoredEvent>,
  ranges: readonly LeafRange[],
): Promise<readonly string[]> {
  const hasher = new RangeHasher(ranges);
  for await (const event of events) hasher.add(eventLeaf(event));
  return hasher.hashes();
}

/** Compares the events of a prefix, handed over in order, with trees that were built from them. */
export interface TreeCheck<Tree> {
  take(event: StoredEvent): void;
  /** The trees that the events do not make, including those that need more events. */
  lost(): readonly Tree[];
}

/**
 * A check against trees, the smallest first. Nothing is computed beyond the largest, and the heads of
 * the streams are compared for that one alone: sorting them for each would take too long.
 */
export function createTreeCheck<
  Tree extends Pick<LogTree, 'size' | 'root'> & { readonly headsRoot: string },
>(trees: readonly Tree[]): TreeCheck<Tree> {
  const builder = new TreeBuilder();
  const heads: Heads = new Map();
  const last = trees.at(-1);
  const lost: Tree[] = [];
  let next = 0;
  let size = 0;
  return {
    take(event) {
      if (next === trees.length) return;
      builder.add(eventLeaf(event));
      moveHead(heads, event);
      size += 1;
      for (let tree = trees[next]; tree?.size === size; tree = trees[next]) {
        const hasSameHeads = tree !== last || tree.headsRoot === headTree(heads).root;
        if (tree.root !== rootOf(builder.frontier()) || !hasSameHeads) lost.push(tree);
        next += 1;
      }
    },
    lost: () => [...lost, ...trees.slice(next)],
  };
}

/** All records of a category, oldest first, by the events that began their streams. */
export async function* recordsOf(store: EventStore, category: string): AsyncGenerator<StreamParts> {
  const prefixes = [categoryPrefix(category)];
  const upTo = await store.head();
  for await (const { stream, revision } of store.readLog({ prefixes, after: 0n, upTo })) {
    const parts = revision === 0 ? parseStreamName(stream) : null;
    if (parts) yield parts;
  }
}
