import { fileURLToPath } from 'node:url';
import {
  type DataFolder,
  type Kept,
  type LogFile,
  type ReadyProcess,
  superviseProcess,
  type Turns,
} from '@counterfoil/local';

const restart = { initialDelayMs: 200, maxDelayMs: 5_000 } as const;

const mains = {
  api: import.meta.resolve('@counterfoil/api/main'),
  projector: import.meta.resolve('@counterfoil/projector/main'),
  webhooks: import.meta.resolve('@counterfoil/webhook-worker/main'),
  exporter: import.meta.resolve('@counterfoil/exporter/main'),
} as const;

export type ApplicationName = keyof typeof mains;

const turns: Readonly<Record<ApplicationName, Turns>> = {
  api: 'long',
  projector: 'long',
  webhooks: 'short',
  exporter: 'short',
};

/**
 * Megabytes of the young generation, from the start: V8 lets it grow only where much survives, and here little does. What is under way
 * at one time, 64 bulks of 50 entries or some batches of events, is copied by each collection, and after two of them it is
 * old, which costs more: the rarer they are, the less of it. With 256 instead of 64, bulks came a third faster (64 clients, two
 * cores), for 200 to 300 MB of memory under that load. Where there is little to do most of the time it is small: V8 collects the whole
 * heap as soon as there is less room left for old objects than the young generation is large.
 */
const youngMegabytes: Readonly<Record<ApplicationName, number>> = {
  api: 256,
  projector: 256,
  webhooks: 16,
  exporter: 8,
};

/**
 * A function is compiled for good after 400 calls in place of 3,000, and 50 calls after the last one that brought it something
 * new in place of 500. Several processes of the api share the calls, and so each is slow for as many times longer after its
 * start: with V8's own figures two of them were still at it after two minutes of full load (two cores).
 */
const compiledEarly = [
  '--invocation-count-for-turbofan=400',
  '--minimum-invocations-after-ic-update=50',
] as const;

/**
 * Memory is not given back after some seconds with little to do. V8 collects the whole heap for that, and once more right after it:
 * in an api just when the next requests come, and in a process that never has much to do for nothing.
 */
const keepsMemory = '--no-memory-reducer';

/**
 * The options of Node.js for a process. The api collects its young garbage on its own thread: what it gains by helper threads is
 * less than what they take from the processes beside it (64 clients, two cores: 9 to 15 % less processor time per entry in the api, 3 to
 * 9 % more entries a second, pauses no longer). What has become old is marked beside the work, or a whole heap would be one
 * pause of up to a second. The projector gains by all helpers and keeps them. The memory of the exporter is to stay small when it has
 * much to do.
 */
function nodeOptions(kind: ApplicationName): readonly string[] {
  const megabytes = youngMegabytes[kind];
  const young = [`--max-semi-space-size=${megabytes}`, `--min-semi-space-size=${megabytes}`];
  switch (kind) {
    case 'api':
      return [...young, keepsMemory, '--no-parallel-scavenge', ...compiledEarly];
    case 'projector':
      return young;
    case 'webhooks':
      return [...young, keepsMemory];
    case 'exporter':
      return [...young, keepsMemory, '--max-old-space-size=160'];
    default:
      return kind satisfies never;
  }
}

/** Starts one of our processes and keeps it running; `name` tells those of one kind apart. */
export const startApplication = (
  kind: ApplicationName,
  env: NodeJS.ProcessEnv,
  folder: DataFolder,
  log: LogFile,
  name: string = kind,
): Kept<ReadyProcess> =>
  superviseProcess({
    name,
    command: process.execPath,
    args: [...nodeOptions(kind), fileURLToPath(mains[kind])],
    env,
    turns: turns[kind],
    ready: 'json-line',
    restart,
    log,
    recordFile: folder.recordFile(name),
  });
