import { hash } from 'node:crypto';
import { BrokenInvariant, invariant } from '@counterfoil/kernel';
import type { RecordedRequest } from '../log/types.ts';

/** Revisions of the events of one request: consecutive, because they were appended together. */
export interface RequestSpan {
  readonly first: number;
  readonly last: number;
}

/** A slot: 128 bits of key, the first revision and one more (0: the slot is free), the count of events. */
const wordsPerSlot = 6;
const slotsAtFirst = 8;
const revisionsMaximum = 2 ** 32 - 2;

/**
 * The requests that a stream has seen, by key, and where their events are. It is complete, because it
 * decides whether money moves twice.
 *
 * The keys are a hash table in one piece of memory. A stream of a million requests takes 24 to 64 bytes
 * for each, nothing that the garbage collector has to walk through, and it is written to a file and read
 * from one as it is.
 */
export class IdempotencyIndex {
  #words: Uint32Array;
  #size = 0;

  /** `words`: those of an earlier index. Throws `BrokenInvariant` when they cannot be of one. */
  constructor(words: Uint32Array = new Uint32Array(0)) {
    const slots = words.length / wordsPerSlot;
    if (!Number.isInteger(slots) || (slots & (slots - 1)) !== 0) {
      throw new BrokenInvariant(`${words.length} words are no table of requests`);
    }
    this.#words = words;
    for (let at = 4; at < words.length; at += wordsPerSlot) if (words[at] !== 0) this.#size += 1;
    // A search ends at a free slot.
    invariant(words.length === 0 || this.#size < slots, 'a table of requests without a free slot');
  }

  /** The memory of the keys, to be copied by those that keep it. */
  get words(): Uint32Array {
    return this.#words;
  }

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  /** About the memory that it takes, in bytes. */
  weigh(): number {
    return this.#words.byteLength;
  }

  /** Returns where the events of a request are; undefined when the stream has not seen it. */
  get(key: string): RequestSpan | undefined {
    if (this.#size === 0) return undefined;
    const words = this.#words;
    const at = this.#slotOf(wordsOf(key));
    const next = words[at + 4] ?? 0;
    return next === 0 ? undefined : { first: next - 1, last: next - 2 + (words[at + 5] ?? 0) };
  }

  /** Notes the request of an event that is in the log at a revision, if it is the first of one. */
  note(request: RecordedRequest | undefined, revision: number): void {
    if (!request) return;
    const last = revision + request.events - 1;
    invariant(last < revisionsMaximum, `revision ${last} does not fit into a table of requests`);
    if ((this.#size + 1) * wordsPerSlot * 4 > this.#words.length * 3) this.#grow();
    this.#put(wordsOf(request.key), revision + 1, request.events);
  }

  #put(key: Key, next: number, count: number): void {
    const words = this.#words;
    const at = this.#slotOf(key);
    if (words[at + 4] === 0) this.#size += 1;
    // One by one: copying from a list of numbers is many times slower.
    words[at] = key[0];
    words[at + 1] = key[1];
    words[at + 2] = key[2];
    words[at + 3] = key[3];
    words[at + 4] = next;
    words[at + 5] = count;
  }

  /** Place of the slot of a key, or of the free one that it would get. At least one slot is free. */
  #slotOf(key: Key): number {
    const words = this.#words;
    const mask = words.length / wordsPerSlot - 1;
    for (let slot = key[0] & mask; ; slot = (slot + 1) & mask) {
      const at = slot * wordsPerSlot;
      if (words[at + 4] === 0 || isAt(words, at, key)) return at;
    }
  }

  /** Twice the room: each key is moved seldom enough that it costs next to nothing. */
  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(Math.max(slotsAtFirst * wordsPerSlot, old.length * 2));
    this.#size = 0;
    for (let at = 0; at < old.length; at += wordsPerSlot) {
      const next = old[at + 4] ?? 0;
      if (next === 0) continue;
      const key: Key = [old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0, old[at + 3] ?? 0];
      this.#put(key, next, old[at + 5] ?? 0);
    }
  }
}

type Key = readonly [number, number, number, number];

const isAt = (words: Uint32Array, at: number, key: Key): boolean =>
  words[at] === key[0] &&
  words[at + 1] === key[1] &&
  words[at + 2] === key[2] &&
  words[at + 3] === key[3];

/** 128 bits in base64url. */
const digestShape = /^[\w-]{22}$/;

/** The bytes of the last key that was looked at: to make some for each of them costs as much again. */
const keyBytes = Buffer.alloc(16);

/**
 * The 128 bits of a key. Keys are hashes already (request-fingerprint.ts); a text that is none is
 * hashed here.
 */
function wordsOf(key: string): Key {
  if (digestShape.test(key)) keyBytes.write(key, 'base64url');
  else hash('sha256', key, 'buffer').copy(keyBytes);
  return [
    keyBytes.readUInt32BE(0),
    keyBytes.readUInt32BE(4),
    keyBytes.readUInt32BE(8),
    keyBytes.readUInt32BE(12),
  ];
}
