import { eventAt } from '../log/event-at.ts';
import type { EventStore } from '../log/types.ts';
import type { Snapshot } from './snapshot.ts';
import type { Snapshots } from './snapshot-folder.ts';

/** The parts by which streams are read and kept. */
export interface StreamSource {
  readonly store: Pick<EventStore, 'readStream'>;
  /** The store for snapshots of long streams; without it they are folded from their first event. */
  readonly snapshots?: Snapshots;
}

/** Events for which a snapshot that nobody here has use for is left to a process that has. */
const patienceEvents = 500;

/**
 * The snapshots of one stream, which each process that folds it keeps as they come due, unless another one has done so. That tells,
 * too, when a stream need not be folded here any longer: when from one snapshot to the next nobody has asked for it, and another
 * process wrote that one. To go on would cost as much as to write the stream; who asks after all reads the latest
 * snapshot and what came after it, no more than was folded in vain until then.
 */
export class KeptSnapshots<State> {
  readonly #source: StreamSource;
  readonly #name: string;
  readonly #take: () => Snapshot<State>;
  #keptAt = -1;
  #dueSinceUse = 0;
  #isDispensable = false;

  /** `take` gives the snapshot of the stream as it is now. */
  constructor(source: StreamSource, name: string, take: () => Snapshot<State>) {
    this.#source = source;
    this.#name = name;
    this.#take = take;
  }

  /** Somebody asks for the stream. */
  noteUse(): void {
    this.#dueSinceUse = 0;
    this.#isDispensable = false;
  }

  /** True when the stream is as well read again, should anybody ask for it once more. */
  get isDispensable(): boolean {
    return this.#isDispensable;
  }

  /** The stream was taken from a snapshot. */
  noteRestored(revision: number): void {
    this.#keptAt = revision;
  }

  /** Keeps a snapshot if one is due at a revision, as the stream is shortly after. */
  keep(revision: number): void {
    const { snapshots } = this.#source;
    const patience = this.#dueSinceUse === 0 ? 0 : patienceEvents;
    if (!snapshots?.isDue(revision - patience, this.#keptAt)) return;
    const taken = (): Snapshot<State> => {
      const snapshot = this.#take();
      this.#keptAt = snapshot.stream.head.revision;
      return snapshot;
    };
    const onOther = (keptAt: number): void => {
      this.#keptAt = keptAt;
      this.#isDispensable = this.#dueSinceUse > 1;
    };
    if (!snapshots.save(this.#name, taken, onOther)) return;
    this.#keptAt = revision;
    this.#dueSinceUse += 1;
  }

  /**
   * The last snapshot that does not go beyond a revision, if the log has the very event that it ends
   * with: the hash of that one stands for all events before it. One that does not fit the log goes.
   */
  async last(upTo: number): Promise<Snapshot<State> | null> {
    const { snapshots, store } = this.#source;
    const found = upTo < 0 ? null : await snapshots?.load<State>(this.#name, upTo);
    if (!found) return null;
    const { revision, hash } = found.stream.head;
    const last = await eventAt(store, this.#name, revision);
    if (last?.metadata.hash === hash) {
      return { ...found, stream: { ...found.stream, position: last.position } };
    }
    await snapshots?.remove(this.#name);
    return null;
  }
}
