/** Usage of an account with a name of its events. */
export interface TouchedUsage {
  readonly environment: number;
  readonly account: string;
  readonly eventName: string;
}

/** Usage that has come, or counts no more. */
export interface ChangedUsage {
  readonly accounts: ReadonlySet<string>;
  readonly events: () => Iterable<TouchedUsage>;
}

/** Records that are looked at when usage of customers changes, kept in the session that fills the tables of usage. */
export interface UsageWatcher {
  /** Memory of the tables may be wrong by now: they are read again. */
  forget(): void;
  touch(usage: ChangedUsage): Promise<void>;
  /** Customers may have taken over usage that waited for them. */
  customersChanged(customerIds: readonly string[]): Promise<void>;
}

/** The columns of a record that is to be looked at, because of one more cause. */
export const markedAgain = 'marked_at = coalesce(marked_at, now()), causes = causes + 1';
