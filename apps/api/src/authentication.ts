import {
  categoryPrefix,
  type EventPlace,
  type EventStore,
  eventsOfRecords,
  type HandedCaller,
  type LiveFold,
  type Log,
  type Position,
  type Principal,
  startLiveFold,
} from '@counterfoil/engine';
import { instantOf, Problem, sha256 } from '@counterfoil/kernel';
import {
  type Directory,
  directoryAggregates,
  type FollowedClocks,
  testClock,
} from '@counterfoil/modules';

/**
 * The callers, from the API keys in the log, and the clocks of their environments. None of it is in PostgreSQL,
 * so that writes need no database.
 */
export interface Authentication {
  readonly fold: LiveFold;
  /**
   * Waits until a write to a tenant, environment, user, key or clock takes effect in this process. Throws a
   * `Problem` service_unavailable when that takes too long: a caller that revokes a key must not be told
   * that it is done while the key still works here.
   */
  takenOver(category: string, position: Position): Promise<void>;
  /**
   * The principal of a key; null for an invalid one. Throws a `Problem` service_unavailable when the log
   * has been out of reach for too long: a key revoked meanwhile would still be valid here.
   */
  authenticate(apiKey: string): Principal | null;
  /** The same for a caller whose key another process has seen; null for one that does not count here. */
  principalOf(caller: HandedCaller): Principal | null;
}

/** Default time that such a write waits until it takes effect in this process. */
const takeOverDefault = 5_000;
/** The time for which keys stay valid as they were when the log was last in reach. */
const lostMaximumMilliseconds = 60_000;

const aggregates = [...directoryAggregates, testClock] as const;
const categories: ReadonlySet<string> = new Set(aggregates.map(({ name }) => name));
const prefixes = aggregates.map(({ name }) => categoryPrefix(name));

/** Tells whether an event is one that keys or clocks follow from. */
export const isOfAuthentication = ({ stream }: EventPlace): boolean =>
  prefixes.some((prefix) => stream.startsWith(prefix));

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
  /** Milliseconds that a write waits until it takes effect in this process. */
  readonly takeOverMilliseconds?: number;
}

/**
 * Keeps a directory and the clocks up to date with the log. A failure ends the process: no caller may go
 * unchecked.
 */
export function startAuthentication(
  store: EventStore,
  { directory, clocks }: { readonly directory: Directory; readonly clocks: FollowedClocks },
  log: Log,
  options: AuthenticationOptions = {},
): Authentication {
  const { takeOverMilliseconds = takeOverDefault, clock } = options;
  const fold = startLiveFold({
    store,
    ...eventsOfRecords(aggregates, (event) => {
      directory.apply(event);
      clocks.apply(event);
    }),
    ...(clock ? { clock } : {}),
    onLost: (error) => log.warn({ err: error }, 'lost the log of API keys, reconnecting'),
    onFailed: (error) => {
      throw error;
    },
  });
  return {
    fold,
    takenOver: async (category, position) => {
      if (!categories.has(category)) return;
      if (await fold.waitFor(position, takeOverMilliseconds)) return;
      throw new Problem(
        'service_unavailable',
        'The change is made, but does not take effect here yet. Repeat the request later.',
        { retryAfterSeconds: 5 },
      );
    },
    authenticate: (apiKey) => {
      assertCurrent(fold);
      return directory.find(sha256(apiKey), instantOf(Date.now()));
    },
    principalOf: ({ tenantId, environmentId, keyId }) => {
      assertCurrent(fold);
      const principal = directory.findKey(tenantId, keyId, instantOf(Date.now()));
      return principal?.environmentId === environmentId ? principal : null;
    },
  };
}
