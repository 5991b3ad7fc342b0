import type { Demo } from '@counterfoil/cli/settings';
import type { EventStore } from '@counterfoil/engine';
import type { DiskSpace } from './disk-space.ts';
import type { LoadResult, Plan } from './load/plan.ts';
import type { BenchOptions } from './options.ts';
import type { ProcessorTime } from './processor-time.ts';
import type { Profiles } from './profile/profiles.ts';
import type { Result } from './report.ts';

/** A name for each process of an installation that can be killed. */
export type ProcessName =
  | 'api'
  | `api-${number}`
  | 'projector'
  | 'webhooks'
  | 'nats'
  | 'postgres'
  | 'eventstore';

/** The name of a process of the api, by its place among them. */
export const apiProcessName = (index: number): ProcessName =>
  index === 0 ? 'api' : `api-${index + 1}`;

/** The installation under test, with everything that scenarios share. */
export interface World {
  readonly store: EventStore;
  readonly demo: Demo;
  /** The addresses of all processes of the api. */
  readonly apiUrls: readonly string[];
  readonly options: BenchOptions;
  /** Wallets with plenty of credits, the same for all scenarios that spread their requests. */
  readonly wallets: () => Promise<readonly string[]>;
  /** A new wallet with this many credits. */
  readonly newWallet: (name: string, credits: string) => Promise<string>;
  readonly run: (plan: Plan) => Promise<LoadResult>;
  /** Null unless processor profiles are wanted. */
  readonly profiles: Profiles | null;
  readonly processorTime: () => ProcessorTime;
  readonly diskSpace: () => Promise<DiskSpace>;
  /** Pid of a process of the installation; undefined while it does not run. */
  readonly pidOf: (name: ProcessName) => number | undefined;
  /** The results of the scenarios before. */
  readonly results: readonly Result[];
  readonly print: (line: string) => void;
}

/** One scenario: a file of its own in scenarios/. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** Runs it and gives one result, or one for each number of clients. */
  readonly run: (world: World) => Promise<readonly Result[]>;
}
