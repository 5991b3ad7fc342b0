import {
  DiscardPolicy,
  type JetStreamManager,
  NatsError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { livePrefix, publicStream, publicSubjects } from '../define/subject.ts';
import { type Nats, nanoseconds } from './nats-connection.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/**
 * The time that the server remembers message ids. It is a second guard beside the expected
 * sequence, and costs memory for each message.
 */
const duplicateMilliseconds = 2 * 60 * 1000;

/** The size of the public stream. An existing stream keeps its own where none is given. */
export interface StreamOptions {
  /** Bytes on disk; the oldest messages go when they are used up. A new stream has 1 GiB. */
  readonly maximumBytes?: number | undefined;
  /** Days that messages are kept. A new stream has 90. */
  readonly maximumAgeDays?: number | undefined;
  /** Copies in a cluster, 1 to 5. A new stream has 1. */
  readonly replicas?: number | undefined;
}

/** The server has a stream of our name that cannot be turned into ours, or refuses ours. */
export class StreamRefused extends Error {
  override readonly name = 'StreamRefused';
}

/**
 * Creates the public stream, or brings an existing one up to date. Doing it again changes nothing.
 * Throws `StreamRefused` when an existing stream differs in what can never be changed.
 */
export async function ensureStreams(
  nats: Nats,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<'created' | 'updated' | 'unchanged'> {
  const { connection } = await nats.session(signal);
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const existing = await streamInfo(manager);
  if (!existing) {
    await refusable('create', () => manager.streams.add(publicStreamConfig(options)));
    return 'created';
  }
  const wanted = publicStreamConfig(options, existing.config);
  const differing = differences(existing.config, wanted);
  if (differing.length === 0) return 'unchanged';
  const fixed = differing.filter((key) => fixedForEver.has(key));
  if (fixed.length > 0) throw new StreamRefused(`${cannotChange}: ${fixed.join(', ')}`);
  await refusable(`change (${differing.join(', ')})`, () =>
    manager.streams.update(publicStream, wanted),
  );
  return 'updated';
}

const cannotChange = `The stream ${publicStream} exists with settings that cannot be changed. Remove it (the relay fills it again from the log) or use another NATS account. They differ in`;

/** The settings that no server lets anybody change once the stream is there. */
const fixedForEver: ReadonlySet<string> = new Set(['storage', 'retention']);

type WantedConfig = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

const newStream = { max_bytes: 1024 ** 3, max_age: nanoseconds(90 * dayMilliseconds) };

/** The settings of the stream: the size that is given, or else that of `sized`. */
function publicStreamConfig(
  { maximumBytes, maximumAgeDays, replicas }: StreamOptions,
  sized: Pick<StreamConfig, 'max_bytes' | 'max_age'> = newStream,
): WantedConfig {
  const maximumAge =
    maximumAgeDays === undefined ? sized.max_age : nanoseconds(maximumAgeDays * dayMilliseconds);
  const duplicateWindow = nanoseconds(duplicateMilliseconds);
  return {
    name: publicStream,
    description: 'Public billing events, written by the relay alone',
    subjects: [publicSubjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: maximumAge,
    max_bytes: maximumBytes ?? sized.max_bytes,
    // No age, which is 0, is no bound.
    duplicate_window: maximumAge > 0 ? Math.min(duplicateWindow, maximumAge) : duplicateWindow,
    deny_delete: true,
    deny_purge: true,
    allow_direct: true,
    republish: { src: publicSubjects, dest: `${livePrefix}.${publicSubjects}` },
    ...(replicas === undefined ? {} : { num_replicas: replicas }),
  };
}

const differences = (existing: StreamConfig, wanted: WantedConfig): string[] =>
  Object.entries(wanted)
    .filter(([key, value]) => !same(existing[key as keyof StreamConfig], value))
    .map(([key]) => key);

/** Compares settings; members that the server adds to an object by itself do not count. */
function same(existing: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return existing === wanted;
  if (typeof existing !== 'object' || existing === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (existing as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, value]) =>
    same((existing as Record<string, unknown>)[key], value),
  );
}

async function refusable(what: string, act: () => Promise<StreamInfo>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof NatsError) || !error.api_error) throw error;
    const { description } = error.api_error;
    throw new StreamRefused(`NATS refuses to ${what} the stream ${publicStream}: ${description}`, {
      cause: error,
    });
  }
}

const streamNotFound = 10059;

/** Returns what the server knows about the public stream; null when there is none. */
export const streamInfo = (manager: JetStreamManager): Promise<StreamInfo | null> =>
  unlessMissing(streamNotFound, () => manager.streams.info(publicStream));

/** The value, or null when the server answers that there is no such thing. */
export async function unlessMissing<Value>(
  code: number,
  ask: () => Promise<Value>,
): Promise<Value | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NatsError && error.api_error?.err_code === code) return null;
    throw error;
  }
}
