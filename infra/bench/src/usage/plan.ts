import type { Sample } from '../load/plan.ts';

/** The order for one load of usage events. */
export interface UsagePlan {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The prefix of the event ids of this load. */
  readonly ids: string;
  /** Clients that each send the next request when the last is answered. */
  readonly clients: number;
  /** Events of a request; 1: each is sent by itself. */
  readonly events: number;
  /** Events a second of all clients together at most; null: as many as are answered. */
  readonly eventsPerSecond: number | null;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** One of so many requests is sent a second time when it is answered; 0: none. */
  readonly repeatedEvery: number;
}

/** The answers that the senders of a load were given. */
export interface UsageLoad {
  readonly samples: readonly Sample[];
  /** The number of answers of each kind, warm-up included. */
  readonly answers: Readonly<Record<string, number>>;
  /** Requests of which each was acknowledged in the end: those of the numbers from 0 on. */
  readonly requests: number;
  /** Events that answers called accepted and repeated. */
  readonly accepted: number;
  readonly repeated: number;
  /** Requests that were sent again because their outcome was not known: what they say of repetitions is open. */
  readonly retried: number;
  /** Requests that were refused, which none should be. */
  readonly refused: number;
  /** Highest position of the log that an answer named. */
  readonly lastPosition: string;
  /** Processor time of the senders. */
  readonly processorSeconds: number;
}
