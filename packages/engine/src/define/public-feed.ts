/** The environment whose events are read, and no others. */
export interface FeedScope {
  readonly tenantId: string;
  readonly environmentId: string;
}

/** A public event as readers of the feed get it. */
export interface FeedEvent {
  /** The same for ever, on NATS and in webhooks too. */
  readonly id: string;
  readonly type: string;
  readonly resourceId: string;
  readonly occurredAt: string;
  /** Place of the event in the log; events about one change share it. */
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  /** The body that a webhook carries. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Events in the order of the log, without gaps. */
export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /**
   * The position to ask for next; never smaller than the one asked for. At the end it is the position
   * of the last event that was published, in any environment.
   */
  readonly nextPosition: string;
  readonly hasMore: boolean;
}

/** The public events of the past, as far as they are kept. */
export interface PublicFeed {
  /**
   * Up to `limit` events after a position; null for the oldest that are kept. The events of one
   * change are never torn apart, so there may be a few more. Throws a `Problem`: 400 when events
   * after the position are no longer kept, 503 when the broker cannot be asked.
   */
  read(scope: FeedScope, after: string | null, limit: number): Promise<FeedPage>;
}
