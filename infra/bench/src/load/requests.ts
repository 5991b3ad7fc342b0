import { chooser, type Random } from './chance.ts';
import { keyOf, type Movement, outcomes, type Reads, type Writes } from './plan.ts';

/** One request as it is sent. */
export interface LoadRequest {
  /** The name under which it is counted. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** Below /v1. */
  readonly path: string;
  readonly body: string | null;
  /** Number of its idempotency key; null for a read. */
  readonly number: number | null;
  readonly key: string | null;
  readonly isRepeat: boolean;
  /** Path of the wallet that it changes, below /v1; null for a read. */
  readonly wallet: string | null;
  /** Entries of the ledger that it makes when it succeeds. */
  readonly entries: number;
}

/** The register that the parts of a load share: the numbers of the keys, and the outcome of each. */
export class KeyRegister {
  #outcomes = new Uint8Array(4_096);
  #given = 0;

  /** A number that no request has had. */
  next(): number {
    if (this.#given === this.#outcomes.length) {
      const longer = new Uint8Array(this.#outcomes.length * 2);
      longer.set(this.#outcomes);
      this.#outcomes = longer;
    }
    this.#outcomes[this.#given] = outcomes.unknown;
    this.#given += 1;
    return this.#given - 1;
  }

  /** The count of numbers given so far. */
  get given(): number {
    return this.#given;
  }

  set(number: number, outcome: (typeof outcomes)[keyof typeof outcomes]): void {
    this.#outcomes[number] = outcome;
  }

  isAcknowledged(number: number): boolean {
    return this.#outcomes[number] === outcomes.acknowledged;
  }

  all(): Uint8Array {
    return this.#outcomes.slice(0, this.#given);
  }
}

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly entries: number;
}

/** The bodies of a movement, with the end of their paths: requests take them in turn. */
function variantsOf(movement: Movement): readonly Sent[] {
  switch (movement.kind) {
    case 'debit':
      return [debit('1')];
    case 'credit':
      return [credit('1')];
    case 'contest':
      return [debit('3'), credit('2')];
    case 'bulk': {
      const entries = Array.from({ length: movement.entries }, () => entryOfBulk);
      return [
        { path: '/transactions/bulk', body: JSON.stringify({ entries }), entries: entries.length },
      ];
    }
    default:
      return movement satisfies never;
  }
}

const entryOfBulk = { type: 'debit', credits: '1' } as const;

const debit = (credits: string): Sent => ({
  path: '/debit',
  body: JSON.stringify({ credits }),
  entries: 1,
});

const credit = (credits: string): Sent => ({
  path: '/top-up',
  body: JSON.stringify({ transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: credits }),
  entries: 1,
});

/** Makes the next request of a part, without end. */
export type NextRequest = () => LoadRequest;

/** Attempts to find an acknowledged request to repeat, before a fresh one is sent instead. */
const repeatAttempts = 8;

/** Requests that move credits. */
export function writeRequests(
  work: Writes,
  keys: string,
  register: KeyRegister,
  random: Random,
): NextRequest {
  const choose = chooser(work.choice, work.wallets.length, random);
  // The wallet of each number, so that a repetition goes to the same one.
  const places: number[] = [];
  const variants = variantsOf(work.movement);
  const name = work.movement.kind === 'bulk' ? 'bulks' : 'writes';
  const write = (number: number, isRepeat: boolean): LoadRequest => {
    const { path, body, entries } = variants[number % variants.length] ?? debit('1');
    const wallet = `/wallets/${work.wallets[places[number] ?? 0]}`;
    return {
      name: isRepeat ? 'repeats' : name,
      method: 'POST',
      path: wallet + path,
      body,
      number,
      key: keyOf(keys, number),
      isRepeat,
      wallet,
      entries: isRepeat ? 0 : entries,
    };
  };
  const repeatable = (): number | null => {
    for (let attempt = 0; attempt < repeatAttempts; attempt += 1) {
      const number = Math.floor(random() * register.given);
      if (places[number] !== undefined && register.isAcknowledged(number)) return number;
    }
    return null;
  };
  return () => {
    const repeated = random() < work.repeatShare ? repeatable() : null;
    if (repeated !== null) return write(repeated, true);
    const number = register.next();
    places[number] = choose();
    return write(number, false);
  };
}

/** Reads: a wallet, a page of its entries, a search over all wallets, in turn. */
export function readRequests({ wallets }: Reads, random: Random): NextRequest {
  let count = 0;
  const any = (): string => wallets[Math.floor(random() * wallets.length)] ?? '';
  const read = (name: string, path: string, body: string | null = null): LoadRequest => ({
    name,
    method: body === null ? 'GET' : 'POST',
    path,
    body,
    number: null,
    key: null,
    isRepeat: false,
    wallet: null,
    entries: 0,
  });
  return () => {
    count += 1;
    if (count % 3 === 0) return read('reads of a wallet', `/wallets/${any()}`);
    if (count % 3 === 1) return read('pages of entries', `/wallets/${any()}/transactions?limit=50`);
    return read('searches', '/wallets/search', JSON.stringify({ limit: 50, wallet_ids: [any()] }));
  };
}
