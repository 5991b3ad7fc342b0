import { messageOf, runForever, sleep, unlessAborted } from '../consume/run-forever.ts';
import type { PublicEvents } from '../define/public-event.ts';
import type { EventStore } from '../log/types.ts';
import { ConnectionLost, type Nats } from '../nats/nats-connection.ts';
import type { StreamOptions } from '../nats/nats-streams.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { StreamCache } from '../stream-cache/stream-cache.ts';
import { Progress, type RelayStatus } from './progress.ts';
import {
  type CheckpointStore,
  type Projected,
  relayOnce,
  type SessionParts,
} from './relay-session.ts';
import { createRenderer } from './render.ts';
import type { Checkpoint } from './resume.ts';

export interface RelayOptions {
  readonly store: EventStore;
  readonly cache: StreamCache;
  readonly nats: Nats;
  readonly publicEvents: readonly PublicEvents[];
  readonly projected: Projected;
  readonly checkpoint: CheckpointStore;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Messages on their way at once. 256 unless given. */
  readonly window?: number;
  readonly streams?: StreamOptions;
  /** Told of messages that are in the stream now. */
  readonly onPublished?: SessionParts['onPublished'];
}

export interface Relay {
  status(): RelayStatus;
  /** Stops publishing, saves the checkpoint and resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

const tickMilliseconds = 1_000;
const stopMilliseconds = 5_000;
const relayBackOff = { firstMilliseconds: 100, lastMilliseconds: 10_000 } as const;

/**
 * Publishes the public events of the log to NATS JetStream: each exactly once in the stream, in the
 * order of the log. It continues by itself after any failure, with back-off and for ever; the
 * reason why it cannot publish is in its status. Any number of relays may run at once.
 */
export function startRelay(options: RelayOptions): Relay {
  const { store, cache, nats, publicEvents, projected, checkpoint, log, metrics } = options;
  const { window = 256, streams = {}, onPublished } = options;
  const renderer = () => createRenderer(cache, publicEvents);
  const progress = new Progress(metrics);
  const parts: SessionParts = {
    store,
    nats,
    renderer,
    projected,
    checkpoint,
    progress,
    log,
    streams,
    window,
    onPublished,
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = Promise.all([keepRelaying(parts, signal), keepTime(parts, signal)]);
  return {
    status: () => withConnection(progress.status(), nats),
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Without a connection nothing is published, even when nothing has failed so far. */
function withConnection(status: RelayStatus, nats: Nats): RelayStatus {
  const { connected, error } = nats.status();
  if (connected || status.error !== null) return status;
  return { ...status, error: `no connection to NATS: ${error ?? 'not connected yet'}` };
}

async function keepRelaying(parts: SessionParts, signal: AbortSignal): Promise<void> {
  const { progress, log, renderer } = parts;
  if (renderer().prefixes.length === 0) return;
  const relay = async (progressed: () => void): Promise<number> => {
    const { published } = progress.status();
    try {
      await relayOnce(parts, signal);
    } catch (error) {
      progress.isCaughtUp = false;
      if (progress.status().published > published) progressed();
      // The connection comes back by itself, with a back-off of its own.
      if (!(error instanceof ConnectionLost)) throw error;
      progress.resynced('connection_lost');
    }
    return 0;
  };
  const onFailure = (error: unknown): undefined => {
    progress.error = messageOf(error);
    progress.resynced('failure');
  };
  await runForever(relay, { name: 'relay', log, signal, backOff: relayBackOff, onFailure });
}

/** Saves the checkpoint and looks where the log ends, every second. */
async function keepTime(parts: SessionParts, signal: AbortSignal): Promise<void> {
  let saved: Checkpoint | null = null;
  while (!signal.aborted) {
    await sleep(tickMilliseconds, signal);
    saved = await saveCheckpoint(parts, saved);
    if (!signal.aborted) await lookAtHead(parts, signal);
  }
}

async function saveCheckpoint(
  { progress, checkpoint, log }: SessionParts,
  saved: Checkpoint | null,
): Promise<Checkpoint | null> {
  const current = progress.checkpoint();
  if (!current || (saved?.stream === current.stream && saved.sequence === current.sequence)) {
    return saved;
  }
  try {
    await unlessAborted(checkpoint.save(current), AbortSignal.timeout(stopMilliseconds));
    return current;
  } catch (error) {
    log.warn({ err: error }, 'relay: the checkpoint cannot be saved');
    return saved;
  }
}

async function lookAtHead(
  { store, progress }: { readonly store: EventStore; readonly progress: Progress },
  signal: AbortSignal,
): Promise<void> {
  try {
    progress.head = await unlessAborted(store.head(), signal);
  } catch {
    // The subscription tells about a store that is away; the lag just stays as it was.
  }
}
