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

/** The events wanted of an environment. */
export interface FeedRequest {
  /** The position after which events are wanted; null for the oldest that are kept. */
  readonly after: string | null;
  readonly limit: number;
  /** An event type, or a prefix such as `wallet.*`; all types when absent. */
  readonly type?: string | undefined;
  /** Events about this record alone. */
  readonly resourceId?: string | undefined;
}

/** The public events of the past, as far as they are kept. */
export interface PublicFeed {
  /**
   * Up to `limit` events after a position. The events of one change are never torn apart, so there
   * may be a few more. Throws a `Problem`: 400 when events after the position are no longer kept, or
   * when the log has not reached that position yet; 503 when the broker cannot be asked.
   */
  read(scope: FeedScope, request: FeedRequest): Promise<FeedPage>;
}
