import {
  belongsTo,
  type EventStore,
  type LiveFold,
  type Log,
  type Position,
  type Principal,
  parseStreamName,
  type StoredEvent,
  stampedEvent,
  startLiveFold,
} from '@counterfoil/engine';
import { type AnyAggregate, instantOf, Problem, sha256 } from '@counterfoil/kernel';
import { authenticationAggregates, keyRegistry } from '@counterfoil/modules';

/** Who calls, from the API keys in the log. Nothing of it is in Postgres: writes do without it. */
export interface Authentication {
  readonly fold: LiveFold;
  /**
   * Waits until this process itself acts by a write to a key or user. Throws a `Problem`
   * service_unavailable when that takes too long: whoever revokes a key must not be told that it is
   * done while the key still works here.
   */
  takenOver(category: string, position: Position): Promise<void>;
  /**
   * Who calls with a key. Throws a `Problem` service_unavailable when the log has been away for too
   * long: a key that was revoked since would still count.
   */
  authenticate(apiKey: string): Principal | null;
}

/** Time that a write to a key or user waits by default until this process itself acts by it. */
const takeOverDefault = 5_000;
/** How long keys count as they did when the log was last there. */
const lostMaximumMilliseconds = 60_000;

function assertCurrent(fold: LiveFold): void {
  if (fold.lostFor() <= lostMaximumMilliseconds) return;
  throw new Problem(
    'service_unavailable',
    'The event store is away, so that nobody knows which API keys still count. Retry later.',
    { retryAfterSeconds: 5 },
  );
}

interface AuthenticationOptions {
  /** Milliseconds that only ever rise. */
  readonly clock?: () => number;
  /** Milliseconds that a write waits until this process itself acts by it. */
  readonly takeOverMilliseconds?: number;
}

/** Follows the API keys and their users. A failure ends the process: nobody may call unchecked. */
export function startAuthentication(
  store: EventStore,
  log: Log,
  options: AuthenticationOptions = {},
): Authentication {
  const { takeOverMilliseconds = takeOverDefault, clock } = options;
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
    ...(clock ? { clock } : {}),
    onLost: (error) => log.warn({ err: error }, 'lost the log of API keys, reconnecting'),
    onFailed: (error) => {
      throw error;
    },
  });
  return {
    fold,
    takenOver: async (category, position) => {
      if (!byCategory.has(category)) return;
      if (await fold.waitFor(position, takeOverMilliseconds)) return;
      throw new Problem(
        'service_unavailable',
        'The change is made, but does not take effect here yet. Repeat the request later.',
        { retryAfterSeconds: 5 },
      );
    },
    authenticate: (apiKey) => {
      assertCurrent(fold);
      return registry.find(sha256(apiKey), instantOf(Date.now()));
    },
  };
}
