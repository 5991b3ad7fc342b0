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

/** The progress of the relay, for its status, its metrics and the checkpoint. Starts with nothing known. */
export class Progress {
  /** Set while everything up to the log's end has been handed over. */
  isCaughtUp = false;
  /** The time at which the events in hand were taken, in milliseconds since 1970; null for none. */
  inHandSince: number | null = null;
  /** The end of the log, as far as it is known. */
  head: Position = 0n;
  /** The failure that keeps the relay from publishing; null while all is well. */
  error: string | null = null;
  readonly #now: () => number;
  readonly #counters: ReturnType<typeof relayMetrics>;
  #identity: string | null = null;
  #place = logStart;
  /** The last place where all messages of an event are in the stream. */
  #whole = logStart;
  #published = 0;
  #resyncs = 0;

  /** `now` gives milliseconds since 1970. */
  constructor(metrics?: Metrics, now: () => number = Date.now) {
    this.#now = now;
    this.#counters = relayMetrics(metrics, () => this.status());
  }

  /** Takes the stream's identity and end, at the start of a session. */
  opened(identity: string, place: Place): void {
    this.#identity = identity;
    // Events that were in hand before may have been published by another relay meanwhile.
    this.inHandSince = null;
    this.#whole = place.complete ? place : logStart;
    this.placed(place, 0);
  }

  /** Takes events in hand. When they occurred by the clock of their environment says nothing about the relay. */
  took(): void {
    this.inHandSince ??= this.#now();
  }

  /** The stream's end has moved on; `published` of the messages are this relay's. */
  placed(place: Place, published: number): void {
    this.#place = place;
    if (place.complete) this.#whole = place;
    this.#published += published;
    if (published > 0) this.error = null;
    this.#counters?.published.inc(published);
  }

  resynced(reason: ResyncReason): void {
    this.#resyncs += 1;
    this.#counters?.resyncs.inc({ reason });
  }

  damaged(damage: StreamDamage): void {
    this.#counters?.damages.inc({ damage });
  }

  truncated(): void {
    this.#counters?.truncated.inc();
  }

  status(): RelayStatus {
    const { position } = this.#whole;
    const since = this.inHandSince;
    const isLevel = (this.isCaughtUp && since === null) || this.head < position;
    return {
      position,
      sequence: this.#place.sequence,
      headLag: isLevel ? 0n : this.head - position,
      lagMilliseconds: since === null ? 0 : Math.max(0, this.#now() - since),
      published: this.#published,
      resyncs: this.#resyncs,
      error: this.error,
    };
  }

  /** The progress that is worth saving; null before the first session. */
  checkpoint(): Checkpoint | null {
    const { sequence, position } = this.#whole;
    if (this.#identity === null || this.#whole === logStart) return null;
    return { stream: this.#identity, sequence, position };
  }
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
