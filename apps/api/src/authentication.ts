import {
  belongsTo,
  type EventStore,
  type LiveFold,
  type Log,
  type Principal,
  parseStreamName,
  type StoredEvent,
  stampedEvent,
  startLiveFold,
} from '@counterfoil/engine';
import { type AnyAggregate, instantOf, sha256 } from '@counterfoil/kernel';
import { authenticationAggregates, keyRegistry } from '@counterfoil/modules';

/** Who calls, from the API keys in the log. Nothing of it is in Postgres: writes do without it. */
export interface Authentication {
  readonly fold: LiveFold;
  /** Whether an aggregate's events change who may call. */
  concerns(category: string): boolean;
  authenticate(apiKey: string): Principal | null;
}

/** Follows the API keys and their users. A failure ends the process: nobody may call unchecked. */
export function startAuthentication(store: EventStore, log: Log): Authentication {
  const byCategory = new Map<string, AnyAggregate>(
    authenticationAggregates.map((aggregate) => [aggregate.name, aggregate]),
  );
  const registry = keyRegistry();
  const apply = (event: StoredEvent): void => {
    const parts = parseStreamName(event.stream);
    const aggregate = parts && byCategory.get(parts.category);
    if (!aggregate || !belongsTo(aggregate, event)) return;
    const stamped = stampedEvent(aggregate, event);
    registry.apply({ ...stamped, aggregate_id: parts.id, revision: event.revision });
  };
  const fold = startLiveFold({
    store,
    prefixes: [...byCategory.keys()].map((category) => `${category}-`),
    apply,
    onLost: (error) => log.warn({ err: error }, 'lost the log of API keys, reconnecting'),
    onFailed: (error) => {
      throw error;
    },
  });
  return {
    fold,
    concerns: (category) => byCategory.has(category),
    authenticate: (apiKey) => registry.find(sha256(apiKey), instantOf(Date.now())),
  };
}
