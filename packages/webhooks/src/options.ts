import type { PublicEvents, PublicFeed } from '@counterfoil/engine/define';
import type { Sealer } from './endpoint/sealing.ts';
import type { TargetPolicy } from './sending/target-policy.ts';

/** Everything that the routes of webhooks need from outside. */
export interface WebhookOptions {
  /** Seals signing secrets and header values before they become part of an event. */
  readonly sealer: Sealer;
  /** Decides which URLs an endpoint may have. */
  readonly policy: TargetPolicy;
  /** Those of the other modules: the events that endpoints may ask for. */
  readonly publicEvents: readonly PublicEvents[];
  /** The events of the past, for messages that no endpoint had; null where there is no broker to ask. */
  readonly feed: PublicFeed | null;
  /** The most endpoints of an environment, which bounds the fan-out of one event. */
  readonly maximumEndpoints: number;
}
