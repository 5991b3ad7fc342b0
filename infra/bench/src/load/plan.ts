/** The choice of the wallet for a request. */
export type Choice =
  | { readonly kind: 'uniform' }
  /** The wallet of rank k is chosen in proportion to 1 / k^exponent. */
  | { readonly kind: 'zipf'; readonly exponent: number };

/** The effect of a write on its wallet. All credits are whole numbers. */
export type Movement =
  | { readonly kind: 'debit' }
  | { readonly kind: 'credit' }
  /** Debits of 3 and credits of 2 in turn, so that an empty wallet refuses many of the debits. */
  | { readonly kind: 'contest' }
  | { readonly kind: 'bulk'; readonly entries: number };

/** Requests that move credits, each with an idempotency key of its own. */
export interface Writes {
  readonly kind: 'writes';
  readonly wallets: readonly string[];
  readonly choice: Choice;
  readonly movement: Movement;
  /** Share of requests that repeat an acknowledged one, with its key and its body; 0 to 1. */
  readonly repeatShare: number;
  /**
   * True when a request without a final answer is sent again with the same key until it gets one, as a
   * careful client does.
   */
  readonly isInsistent: boolean;
  /** One of this many acknowledged writes is followed until the read model shows it; 0 for none. */
  readonly followedEvery: number;
}

/** Reads of wallets, pages of their entries and searches, in turn. */
export interface Reads {
  readonly kind: 'reads';
  readonly wallets: readonly string[];
}

/**
 * The pace of the requests. Closed: each client sends its next request when it has the answer to the
 * last. Open: at fixed instants, whatever the answers do.
 */
export type Pace =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly perSecond: number };

/** Clients that do the same. Each has one connection. */
export interface Part {
  readonly clients: number;
  readonly pace: Pace;
  readonly work: Writes | Reads;
}

/** The plan of the load generator. All parts run at the same time. */
export interface Plan {
  /** The addresses of the api, one of which each request goes to, at random. */
  readonly baseUrls: readonly string[];
  readonly apiKey: string;
  /** The prefix of the idempotency keys of this load. */
  readonly keys: string;
  readonly seed: number;
  /** Seconds of load before anything is measured. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly parts: readonly Part[];
}

/** Times of answers, in milliseconds from the instant at which the request was due. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly maximum: number;
}

/** The figures of the clients for one kind of request, in the measured seconds. */
export interface Sample {
  readonly name: string;
  readonly requests: number;
  /** Entries of the ledger that the acknowledged requests made; repetitions make none. */
  readonly entries: number;
  readonly requestsPerSecond: number;
  readonly entriesPerSecond: number;
  readonly latency: Latency;
  /** The whole HDR histogram in microseconds, compressed, base64, for comparison with later runs. */
  readonly histogram: string;
}

/** The outcome of the request with a key: the place in `LoadResult.outcomes` is its number. */
export const outcomes = { unsent: 0, unknown: 1, acknowledged: 2, refused: 3 } as const;

export interface LoadResult {
  readonly samples: readonly Sample[];
  /** The number of answers of each kind, warm-up included. */
  readonly answers: Readonly<Record<string, number>>;
  readonly outcomes: Uint8Array;
  /** Answers that should say that they are repetitions and do not, or the other way round. */
  readonly wronglyMarked: number;
  /** Highest position of the log that an answer named. */
  readonly lastPosition: string;
  /** Entries that were acknowledged, warm-up included. */
  readonly entries: number;
  /** Processor time of the load generator itself. */
  readonly processorSeconds: number;
}

/** The idempotency key of the request with this number. */
export const keyOf = (keys: string, number: number): string => `${keys}-${number}`;
