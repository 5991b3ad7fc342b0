import type { Counter, Gauge } from 'prom-client';
import type { Connection } from '../database/database.ts';
import type { Position } from '../log/types.ts';
import type { Metrics } from '../operations/metrics.ts';
import { readFindings, readProgress } from './verification-record.ts';

/** The state of the verification, as operators see it. */
export class VerificationBoard {
  #findings = 0;
  #first: string | null = null;
  readonly #position: Gauge | undefined;
  readonly #completed: Gauge | undefined;
  readonly #found: Gauge | undefined;
  readonly #events: Counter | undefined;

  constructor(metrics?: Metrics) {
    this.#position = metrics?.gauge({
      name: 'counterfoil_verification_position',
      help: 'Position of the log up to which this round of the verification has come',
    });
    this.#completed = metrics?.gauge({
      name: 'counterfoil_verification_completed_timestamp_seconds',
      help: 'When the verification last reached the end of the log; 0 before the first time',
    });
    this.#found = metrics?.gauge({
      name: 'counterfoil_verification_findings',
      help: 'Events, checkpoints and rows that are not what they were',
    });
    this.#events = metrics?.counter({
      name: 'counterfoil_verification_events_total',
      help: 'Events whose hash was computed again',
    });
  }

  set position(position: Position) {
    this.#position?.set(Number(position));
  }

  count(events: number): void {
    this.#events?.inc(events);
  }

  /** Reads the findings, those of former processes too, with their times. */
  async read(connection: Connection): Promise<void> {
    const { count, first } = await readFindings(connection);
    const { position, completedAt } = await readProgress(connection);
    this.#findings = count;
    this.#first = first;
    this.#found?.set(count);
    this.position = position;
    if (completedAt) this.#completed?.set(Date.parse(completedAt) / 1_000);
  }

  /** Throws, with the first finding, while there is one. */
  check(): void {
    if (this.#findings === 0) return;
    throw new Error(`The verification has ${this.#findings} findings, the first: ${this.#first}`);
  }
}
