/**
 * The rules for holding back the deliveries of an endpoint: when, and for how long. All times in
 * milliseconds. Held back deliveries use up no attempts; one of them is sent from time to time as a
 * probe.
 */
export interface BreakerPolicy {
  /** So many failures without a success between them hold back. */
  readonly failuresInRow: number;
  /** So does a share of failures, in percent, of at least so many attempts within a window. */
  readonly windowLength: number;
  readonly windowAttempts: number;
  readonly windowFailurePercent: number;
  /** The wait before the first probe; each one that fails doubles it, up to the longest. */
  readonly firstProbe: number;
  readonly longestProbe: number;
  /** A delivery that has been held back is given up at this age. */
  readonly horizon: number;
  /** An endpoint is disabled after failing for so long, if its failures lie so far apart. */
  readonly disableAfter: number;
  readonly disableSpan: number;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A day of outage costs about 100 probes and loses nothing. */
export const standardBreakerPolicy: BreakerPolicy = {
  failuresInRow: 10,
  windowLength: 5 * minute,
  windowAttempts: 10,
  windowFailurePercent: 70,
  firstProbe: 30 * second,
  longestProbe: 15 * minute,
  horizon: 72 * hour,
  disableAfter: 5 * day,
  disableSpan: 12 * hour,
};

/** `closed`: deliveries flow. `open`: only probes. `half_open`: more and more of them flow again. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** The reason for which the service disables an endpoint by itself. */
export type DisableReason = 'failing' | 'gone' | 'by_receiver';

/** The health of an endpoint, as far as it is known. Instants in milliseconds since 1970. */
export interface Health {
  readonly state: BreakerState;
  readonly failuresInRow: number;
  readonly windowStartedAt: number;
  readonly windowAttempts: number;
  readonly windowFailures: number;
  /** Probes that have failed since it opened. */
  readonly probes: number;
  /** Null while open: not before it has been disabled and enabled again. */
  readonly nextProbeAt: number | null;
  /** Deliveries that may be under way at once while half open. */
  readonly allowance: number | null;
  /** The first failure after the last success. */
  readonly failingSince: number | null;
  readonly lastFailureAt: number | null;
  readonly lastSuccessAt: number | null;
  /** Set when it is to be disabled. */
  readonly disableReason: DisableReason | null;
}

/** The evidence of an attempt about the health of its endpoint. */
export interface Observation {
  readonly isSuccess: boolean;
  /** True when it was sent while the others were held back. */
  readonly isProbe: boolean;
  /** Set when the receiver asked to be disabled. */
  readonly disableReason: DisableReason | null;
}

/** The allowance at which an endpoint counts as well again: no endpoint may have more in flight. */
const fullAllowance = 64;
/** Failures in a row that end a recovery; a single one may be about its message alone. */
const relapseFailures = 2;

/** The health of an endpoint of which nothing is known. */
export const unknownHealth = (now: number): Health => ({
  state: 'closed',
  failuresInRow: 0,
  windowStartedAt: now,
  windowAttempts: 0,
  windowFailures: 0,
  probes: 0,
  nextProbeAt: null,
  allowance: null,
  failingSince: null,
  lastFailureAt: null,
  lastSuccessAt: null,
  disableReason: null,
});

/** The health after an attempt that ended at `now`. Pure. */
export function healthAfter(
  health: Health,
  { isSuccess, isProbe, disableReason }: Observation,
  now: number,
  policy: BreakerPolicy,
): Health {
  const counted = countAttempt(health, isSuccess, now, policy);
  const judged = isSuccess
    ? afterSuccess(counted, now)
    : afterFailure(counted, isProbe, now, policy);
  if (disableReason === null) return judged;
  return { ...judged, state: 'open', nextProbeAt: null, disableReason };
}

function countAttempt(
  health: Health,
  isSuccess: boolean,
  now: number,
  { windowLength }: BreakerPolicy,
): Health {
  const isOver = now - health.windowStartedAt >= windowLength;
  const attempts = isOver ? 0 : health.windowAttempts;
  const failures = isOver ? 0 : health.windowFailures;
  return {
    ...health,
    windowStartedAt: isOver ? now : health.windowStartedAt,
    windowAttempts: attempts + 1,
    windowFailures: failures + (isSuccess ? 0 : 1),
  };
}

function afterSuccess(health: Health, now: number): Health {
  const well: Health = { ...health, failuresInRow: 0, failingSince: null, lastSuccessAt: now };
  if (health.disableReason !== null) return well;
  switch (health.state) {
    case 'closed':
      return well;
    case 'open':
      return { ...well, state: 'half_open', nextProbeAt: null, allowance: 1 };
    case 'half_open':
      return recovering(well, now);
    default:
      return health.state satisfies never;
  }
}

function recovering(health: Health, now: number): Health {
  const allowance = 2 * (health.allowance ?? 1);
  if (allowance < fullAllowance) return { ...health, allowance };
  return { ...unknownHealth(now), lastFailureAt: health.lastFailureAt, lastSuccessAt: now };
}

function afterFailure(
  health: Health,
  isProbe: boolean,
  now: number,
  policy: BreakerPolicy,
): Health {
  const failed: Health = {
    ...health,
    failuresInRow: health.failuresInRow + 1,
    failingSince: health.failingSince ?? now,
    lastFailureAt: now,
  };
  switch (health.state) {
    case 'closed':
      return isTooMany(failed, policy) ? opened(failed, 0, now, policy) : failed;
    case 'half_open':
      return failed.failuresInRow < relapseFailures
        ? failed
        : opened(failed, health.probes + 1, now, policy);
    case 'open':
      return isProbe && health.disableReason === null
        ? opened(failed, health.probes + 1, now, policy)
        : failed;
    default:
      return health.state satisfies never;
  }
}

const isTooMany = (health: Health, policy: BreakerPolicy): boolean =>
  health.failuresInRow >= policy.failuresInRow ||
  (health.windowAttempts >= policy.windowAttempts &&
    health.windowFailures * 100 >= health.windowAttempts * policy.windowFailurePercent);

/** Doublings beyond which every wait is the longest one, whatever the policy. */
const doublingsMaximum = 30;

function opened(health: Health, probes: number, now: number, policy: BreakerPolicy): Health {
  const wait = policy.firstProbe * 2 ** Math.min(probes, doublingsMaximum);
  const nextProbeAt = now + Math.min(wait, policy.longestProbe);
  return { ...health, state: 'open', probes, nextProbeAt, allowance: null };
}

/**
 * Tells whether a success is worth writing down: not when the endpoint is well and was known to be
 * so a short while ago.
 */
export const isNews = (before: Health, after: Health, interval: number): boolean =>
  after.state !== 'closed' ||
  before.state !== 'closed' ||
  after.windowFailures > 0 ||
  after.failuresInRow !== before.failuresInRow ||
  (after.lastSuccessAt ?? 0) - (before.lastSuccessAt ?? 0) >= interval;
