import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { Book } from './book.ts';
import { canonical, type Data, LedgerFault, must, sha256, UnusableInput } from './figures.ts';

type Event = { type: string; stream: string; revision: number; data: Data; metadata: Data };
type Trees = { tree_size: number; root_hash: string; wallets: number; heads_root: string };
type Checkpoint = { id: string; environment_id: string } & Trees;
type Proof = { revision: number; index: number; from: number; path: string[] };

const nodeHash = (left: string, right: string): string =>
  sha256(Buffer.from(`01${left}${right}`, 'hex'));
/** The largest power of two below a size: where RFC 6962 divides a tree. */
const half = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1);

/** The next step of a proof, from the root down. */
function step(path: string[]): string {
  const next = path.pop() ?? '';
  must(/^[0-9a-f]{64}$/.test(next), 'the proof is too short');
  return next;
}

/** The root that a leaf and its path lead to. */
function rootOf(leaf: string, index: number, size: number, path: string[]): string {
  if (size <= 1) return leaf;
  const [other, middle] = [step(path), half(size)];
  if (index < middle) return nodeHash(rootOf(leaf, index, middle, path), other);
  return nodeHash(other, rootOf(leaf, index - middle, size - middle, path));
}

/** The roots of an earlier and of the later tree that a proof leads to, given the earlier root. */
function rootsOf(root: string | null, from: number, size: number, path: string[]): string[] {
  if (from >= size) return Array(2).fill(root ?? step(path));
  const [other, middle] = [step(path), half(size)];
  if (from <= middle) {
    const [before = '', after = ''] = rootsOf(root, from, middle, path);
    return [before, nodeHash(after, other)];
  }
  return rootsOf(null, from - middle, size - middle, path).map((right) => nodeHash(other, right));
}

/** The first 16 digits of the SHA-256 of a public key, the `key_id` of its signatures. */
const keyIdOf = (key: KeyObject): string =>
  sha256(key.export({ format: 'der', type: 'spki' })).slice(0, 16);

/** The statement of a checkpoint, which must be signed with the key. */
export function signed({ statement, signature, key_id: named }: Data, key: KeyObject): Checkpoint {
  const bytes = Buffer.from(`${signature}`, 'hex');
  const isOurs = verify(null, Buffer.from(`${statement}`), key, bytes);
  if (isOurs && bytes.toString('hex') === signature) return JSON.parse(`${statement}`);
  const other = named && named !== keyIdOf(key);
  const reason = other ? `: it names key ${named}, the key given is ${keyIdOf(key)}` : '';
  throw new LedgerFault(`the signature of the checkpoint is wrong${reason}`);
}

function usable<Value>(read: () => Value, problem: string): Value {
  try {
    return read();
  } catch {
    throw new UnusableInput(problem);
  }
}

/** A public key as a PEM text has it. */
export const publicKey = (text: string): KeyObject =>
  usable(() => createPublicKey(text), 'the key is no public key in PEM');

/** Checkpoints that somebody kept, all signed: one, or a list of them as the API answers it. */
export function keptCheckpoints(text: string, key: KeyObject): Checkpoint[] {
  const kept = usable(() => JSON.parse(text), 'the earlier checkpoint is no JSON');
  const list: Data[] = Array.isArray(kept?.items) ? kept.items : [kept];
  const isUsable = list.length > 0 && list.every((each) => each?.statement && each.signature);
  if (!isUsable) throw new UnusableInput('the earlier checkpoint has no statement and signature');
  return list.map((each) => signed(each, key));
}

const altered = 'its content does not match its hash, or it does not follow the event before it';

/** The state of the check after the lines of an export so far. */
export class Ledger {
  readonly book = new Book();
  readonly hashes: string[] = [];
  stream = '';
  isWhole = false;
  checkpoint: Checkpoint | null = null;
  covered = -1;
  place = '';
  extended: Checkpoint | null = null;

  event(event: Event): void {
    const revision = this.hashes.length;
    const { hash, ...metadata } = event.metadata;
    const prev = this.hashes.at(-1) ?? '0'.repeat(64);
    const actual = sha256(canonical({ ...event, metadata, prev }));
    try {
      must(!this.isWhole, 'comes after the end');
      must(event.revision === revision, `is missing; the next event is ${event.revision}`);
      must(actual === hash, altered);
      must(event.stream === this.stream, 'is of another stream');
      this.book.apply(event.type, event.data, `${metadata.occurred_at}`);
    } catch (error) {
      throw new LedgerFault(`revision ${revision}: ${(error as Error).message} (${event.type})`);
    }
    this.hashes.push(actual);
  }

  end(head: unknown): void {
    const revision = this.hashes.length - 1;
    const isHead = canonical(head) === canonical({ hash: this.hashes.at(-1), revision });
    must(isHead, `revision ${revision} is not the last: events after it are missing`);
    this.isWhole = true;
  }

  #leaf(revision: number): string {
    const event = { hash: this.hashes[revision], revision, stream: this.stream };
    return sha256(`\0${canonical(event)}`);
  }

  inclusion({ revision, index, path }: Proof): void {
    const { environment_id, tree_size, root_hash } = this.checkpoint ?? ({} as Checkpoint);
    const isOfStream = this.stream.startsWith(`wallet-${environment_id}.`);
    must(isOfStream && index < tree_size, 'the proof is about another environment or tree');
    const root = rootOf(this.#leaf(revision), index, tree_size, path);
    must(root === root_hash, `revision ${revision} is not what the checkpoint was signed over`);
    this.covered = revision;
  }

  /** Checks that no event of the wallet was left out, and finds its place among the wallets. */
  completeness({ revision, index, path }: Proof): void {
    const { wallets, heads_root } = this.checkpoint ?? { wallets: 0, heads_root: '' };
    const isOfWallet = index < wallets && revision === this.covered;
    must(isOfWallet, 'the proof is about another wallet or event');
    const root = rootOf(this.#leaf(revision), index, wallets, path);
    must(root === heads_root, `revision ${revision} is not the last one that was signed`);
    this.place = `, wallet ${index + 1} of ${wallets}`;
  }

  consistency(kept: readonly Checkpoint[], { from, path }: Proof): void {
    const earlier = kept.find(({ tree_size }) => tree_size === from);
    if (!earlier || !this.checkpoint) return;
    const { environment_id, tree_size, root_hash } = this.checkpoint;
    const roots = canonical(rootsOf(earlier.root_hash, from, tree_size, path));
    const isSame = roots === canonical([earlier.root_hash, root_hash]);
    const isHere = environment_id === earlier.environment_id;
    must(isSame && isHere, `what ${earlier.id} was signed over is not in the history any more`);
    this.extended = earlier;
  }
}
