import type { Position } from '../log/types.ts';
import type { Metrics } from '../operations/metrics.ts';
import { type Checkpoint, logStart, type Place, type StreamDamage } from './resume.ts';

/** The progress and the health of a relay. */
export interface RelayStatus {
  /** Position of the last event whose messages are all in the stream. */
  readonly position: Position;
  /** Sequence of the last message in the stream. */
  readonly sequence: number;
  /** The distance to the log's end, in positions (bytes, with most stores); 0 when caught up. */
  readonly headLag: Position;
  /** Age of the oldest event that is known and not yet published; 0 when there is none. */
  readonly lagMilliseconds: number;
  /** Messages stored by this relay since it started. */
  readonly published: number;
  /** The number of times that it had to look at the stream's end again. */
  readonly resyncs: number;
  /** The fault that keeps it from publishing; null while all is well. */
  readonly error: string | null;
}

/**
 * The reason why the relay looked at the stream's end again, beside the faults of single messages.
 */
export type ResyncReason = 'connection_lost' | 'failure' | (string & {});

/** Collects what the relay does, for status, metrics and the checkpoint. */
export interface Progress {
  /** The stream's identity and end, at the start of a session. */
  opened(identity: string, place: Place): void;
  /** The stream's end has moved on; `published` of the messages are this relay's. */
  placed(place: Place, published: number): void;
  resynced(reason: ResyncReason): void;
  damaged(damage: StreamDamage): void;
  truncated(): void;
  /**
   * Sets the time at which the oldest event in hand occurred, in milliseconds since 1970; null for
   * none in hand.
   */
  inHand(since: number | null): void;
  /** Sets whether everything up to the log's end has been handed over. */
  caughtUp(yes: boolean): void;
  headSeen(position: Position): void;
  failed(error: string | null): void;
  status(): RelayStatus;
  /** The progress that is worth saving; null before the first session. */
  checkpoint(): Checkpoint | null;
}

/** Starts with nothing known. `now` gives milliseconds since 1970. */
export function createProgress(metrics: Metrics | undefined, now = Date.now): Progress {
  let identity: string | null = null;
  let place = logStart;
  /** The last place where all messages of an event are in the stream. */
  let whole = logStart;
  let published = 0;
  let resyncs = 0;
  let error: string | null = null;
  let since: number | null = null;
  let live = false;
  let head: Position = 0n;

  const status = (): RelayStatus => ({
    position: whole.position,
    sequence: place.sequence,
    headLag: (live && since === null) || head < whole.position ? 0n : head - whole.position,
    lagMilliseconds: since === null ? 0 : Math.max(0, now() - since),
    published,
    resyncs,
    error,
  });
  const counters = relayMetrics(metrics, status);
  const placed = (next: Place, count: number): void => {
    place = next;
    if (next.complete) whole = next;
    published += count;
    if (count > 0) error = null;
    counters?.published.inc(count);
  };
  return {
    status,
    opened: (opened, at) => {
      identity = opened;
      // What was in hand before may have been published by another relay meanwhile.
      since = null;
      whole = at.complete ? at : logStart;
      placed(at, 0);
    },
    placed,
    resynced: (reason) => {
      resyncs += 1;
      counters?.resyncs.inc({ reason });
    },
    damaged: (damage) => counters?.damages.inc({ damage }),
    truncated: () => counters?.truncated.inc(),
    inHand: (at) => {
      since = at;
    },
    caughtUp: (yes) => {
      live = yes;
    },
    headSeen: (position) => {
      head = position;
    },
    failed: (reason) => {
      error = reason;
    },
    checkpoint: () =>
      identity === null || whole === logStart
        ? null
        : { stream: identity, sequence: whole.sequence, position: whole.position },
  };
}

function relayMetrics(metrics: Metrics | undefined, status: () => RelayStatus) {
  if (!metrics) return null;
  metrics.gauge({
    name: 'counterfoil_relay_lag_positions',
    help: 'How far the log is ahead of the public stream, in log positions',
    collect: (gauge) => gauge.set(Number(status().headLag)),
  });
  metrics.gauge({
    name: 'counterfoil_relay_lag_seconds',
    help: 'Age of the oldest known event that is not yet in the public stream',
    collect: (gauge) => gauge.set(status().lagMilliseconds / 1000),
  });
  metrics.gauge({
    name: 'counterfoil_relay_failing',
    help: 'Whether something keeps the relay from publishing (1) or not (0)',
    collect: (gauge) => gauge.set(status().error === null ? 0 : 1),
  });
  return {
    published: metrics.counter({
      name: 'counterfoil_relay_published_total',
      help: 'Public messages stored by this relay',
    }),
    resyncs: metrics.counter({
      name: 'counterfoil_relay_resyncs_total',
      help: 'How often the relay had to look at the end of the public stream again',
      labels: ['reason'],
    }),
    damages: metrics.counter({
      name: 'counterfoil_relay_stream_damages_total',
      help: 'Losses in the public stream that the relay found and fills again from the log',
      labels: ['damage'],
    }),
    truncated: metrics.counter({
      name: 'counterfoil_relay_truncated_total',
      help: 'Public messages whose body was too long and only names the records',
    }),
  };
}
