import { OperatorError } from '@counterfoil/cli/settings';

/** The options of a run of the benchmark. */
export interface BenchOptions {
  /** Ids of the scenarios to run; null for all. */
  readonly scenarios: readonly string[] | null;
  /** Numbers of clients; the scenarios with a load run once with each. */
  readonly clients: readonly number[];
  /** Measured seconds of each load. */
  readonly seconds: number;
  /** Seconds of load in front of them; null: a fifth of them. */
  readonly warmUpSeconds: number | null;
  /** Wallets of the scenarios that spread their requests. */
  readonly wallets: number;
  /** Requests per second of an open loop in S1 to S6, and in LAG; null: closed loops, and half of S1's rate in LAG. */
  readonly rate: number | null;
  /** Processes that S9 kills, and seconds from one to the next. */
  readonly kills: number;
  readonly killEvery: number;
  /** Entries of the wallet of S10. */
  readonly coldEntries: number;
  readonly seed: number;
  /** Processes of the api, over which requests are spread at random. */
  readonly apiProcesses: number;
  /** Waits until PostgreSQL has told all its counts, before and after each load. */
  readonly exactCounts: boolean;
  /** File for the results as JSON. */
  readonly json: string | null;
  /** Folder for processor profiles of each load; null: none. */
  readonly profile: string | null;
}

/** A run of three minutes that shows whether something has become slow. */
export const shortRun: BenchOptions = {
  scenarios: null,
  clients: [64],
  seconds: 5,
  warmUpSeconds: null,
  wallets: 1_000,
  rate: null,
  kills: 2,
  killEvery: 10,
  coldEntries: 20_000,
  seed: 42,
  apiProcesses: 1,
  exactCounts: false,
  json: null,
  profile: null,
};

/** The run behind docs/operating/performance.md. */
export const fullRun: BenchOptions = {
  ...shortRun,
  clients: [1, 8, 32, 64, 256],
  seconds: 10,
  wallets: 10_000,
  kills: 20,
  coldEntries: 1_000_000,
};

/** A whole number of the command line, up to seven digits. Throws `OperatorError`. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new OperatorError(`${text} is no whole number.`);
  return Number(text);
}

/** Whole numbers with commas between them. Throws `OperatorError`. */
export const wholeNumbers = (text: string): readonly number[] => text.split(',').map(wholeNumber);

/** Names with commas between them. */
export const names = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
