import type { FileStore, RouteKey } from '@counterfoil/engine/define';
import type { TaskEventData } from '../task/events.ts';
import type { BulkAnswer } from './bulk.ts';

/** A request that the service carries out in the name of whoever asked for an import. */
export interface RowRequest {
  readonly operation: RouteKey;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** The idempotency key; null for usage events, which have ids. */
  readonly key: string | null;
}

/** Everything that a run of an import needs of the process that it runs in. */
export interface ImportPorts {
  readonly files: FileStore;
  /** The mark of this run on the file of bad rows, which shuts out those before it. */
  readonly mark: string;
  /** Carries a request out. It does not reject. */
  readonly send: (request: RowRequest) => Promise<BulkAnswer>;
  /** Notes progress in the record. False where the record has ended or come further: this run is over. */
  readonly note: (progress: TaskEventData<'ImportProgressed'>) => Promise<boolean>;
  /** Waits after an attempt that got no answer of use. */
  readonly pause: (attempt: number) => Promise<void>;
  /** Ends the run behind the rows under way. */
  readonly signal: AbortSignal;
}
