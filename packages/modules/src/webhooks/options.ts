import type { OperationalReads, RequestContext } from '@counterfoil/engine/define';
import type { Sealer } from './sealing.ts';
import type { TargetPolicy } from './target-policy.ts';

/** What is needed to make the body of a message anew. */
export interface MessageOrigin {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly resourceId: string;
}

export interface WebhookOptions {
  /** Seals signing secrets and header values before they become part of an event. */
  readonly sealer: Sealer;
  /** Which URLs an endpoint may have. */
  readonly policy: TargetPolicy;
  /** Reads of the tables of the delivery worker. */
  readonly reads: OperationalReads;
  /**
   * The whole body of a message that was too long to be delivered, made anew from the log. Null
   * when nobody publishes such a message any more.
   */
  readonly wholeBody: (context: RequestContext, origin: MessageOrigin) => Promise<unknown>;
}
