import { keyOf, outcomes } from './load/plan.ts';

/** The answers that clients got, and their meaning for the ledger. */
export interface Told {
  /** The prefix of the idempotency keys. */
  readonly keys: string;
  /** The outcome of each request: see `outcomes`. */
  readonly outcomes: Uint8Array;
  /** Entries that a request makes. */
  readonly entriesPerKey: number;
}

/** An event of a wallet, as far as the check looks at it. */
export interface WalletEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: unknown;
}

interface Entry {
  readonly credits: string;
  readonly credit_balance_after: string;
  readonly idempotency_key?: string;
}

/**
 * The events that move credits, with their directions. Written here a second time, because a check that
 * shares code with its subject shares its defects.
 */
const directions: Readonly<Record<string, bigint>> = {
  CreditsLoaded: 1n,
  CreditsDebited: -1n,
  CreditsExpired: -1n,
  HoldCaptured: -1n,
};

const faultsMaximum = 20;

/**
 * Compares the answers that clients got with the log, event by event: acknowledged entries are there,
 * refused ones are not, each key once; balances continue from one entry to the next and never fall below
 * zero. It knows whole credits only, and the benchmark moves no others.
 */
export class LedgerCheck {
  readonly #told: Told;
  readonly #entriesOf = new Map<string, number>();
  readonly #balances = new Map<string, bigint>();
  readonly #faults: string[] = [];
  #entries = 0;

  constructor(told: Told) {
    this.#told = told;
  }

  /** The number of entries that were compared. */
  get entries(): number {
    return this.#entries;
  }

  /** Balances after the last entry, by stream. */
  get balances(): ReadonlyMap<string, bigint> {
    return this.#balances;
  }

  /** Takes the next event of the log. */
  take({ stream, type, data }: WalletEvent): void {
    const direction = directions[type];
    if (direction === undefined) return;
    const entry = data as Entry;
    const after = BigInt(entry.credit_balance_after);
    const before = this.#balances.get(stream);
    this.#entries += 1;
    if (before !== undefined && after !== before + direction * BigInt(entry.credits)) {
      this.#fault(`${stream}: ${before} and ${entry.credits} do not make ${after}`);
    }
    if (after < 0n) this.#fault(`${stream}: the balance is ${after}`);
    this.#balances.set(stream, after);
    const key = entry.idempotency_key;
    if (key?.startsWith(`${this.#told.keys}-`)) {
      this.#entriesOf.set(key, (this.#entriesOf.get(key) ?? 0) + 1);
    }
  }

  /** The faults, in sentences, after the last event. */
  faults(): readonly string[] {
    const { keys, outcomes: told, entriesPerKey } = this.#told;
    for (const [number, outcome] of told.entries()) {
      const key = keyOf(keys, number);
      const found = this.#entriesOf.get(key) ?? 0;
      this.#entriesOf.delete(key);
      const isRight =
        found === entriesPerKey ? mayBeThere(outcome) : found === 0 && mayBeAbsent(outcome);
      if (!isRight) this.#fault(`${key} is ${nameOf(outcome)} and has ${found} entries`);
    }
    for (const key of this.#entriesOf.keys()) this.#fault(`${key} was never sent and has entries`);
    return this.#faults;
  }

  #fault(sentence: string): void {
    if (this.#faults.length < faultsMaximum) this.#faults.push(sentence);
  }
}

const mayBeThere = (outcome: number): boolean =>
  outcome === outcomes.acknowledged || outcome === outcomes.unknown;

const mayBeAbsent = (outcome: number): boolean =>
  outcome === outcomes.refused || outcome === outcomes.unknown;

const nameOf = (outcome: number): string =>
  Object.entries(outcomes).find(([, value]) => value === outcome)?.[0] ?? String(outcome);
