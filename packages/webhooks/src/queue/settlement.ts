import { disablingOf, isOwnFailure } from '../sending/retry.ts';
import type { Outcome } from './attempt-store.ts';
import { type BreakerPolicy, type Health, healthAfter, unknownHealth } from './health.ts';
import type { HealthChange, KnownHealth } from './health-store.ts';

/** The next state of a delivery after an attempt. */
export interface Settlement {
  readonly outcome: Outcome;
  readonly state: 'delivered' | 'pending' | 'exhausted';
  /** Milliseconds until it is due again. */
  readonly delayMs: number;
  /** True when an attempt of its ladder is used up. */
  readonly isCounted: boolean;
}

/** The next states of deliveries and of the health of their endpoints. */
export interface Judgement {
  readonly settlements: readonly Settlement[];
  readonly changes: readonly HealthChange[];
}

interface Followed {
  readonly before: Health;
  readonly era: HealthChange['era'];
  health: Health;
}

/**
 * Tells whether a delivery was asked for by hand: it says nothing about its endpoint, and is tried
 * once.
 */
const isByHand = ({ delivery: { trigger } }: Outcome): boolean =>
  trigger === 'resend' || trigger === 'test';

/** Milliseconds until what was our own failure is tried again. */
const ownFailureDelay = 30_000;

/**
 * Decides what becomes of deliveries, in the light of how their endpoints are doing. Pure.
 *
 * A failure while the endpoint is held back is no use of an attempt: the delivery stays due, behind
 * the others, until the endpoint is well or the delivery older than the horizon. Nor is one that was
 * the worker's own: it is tried again a little later.
 */
export function judge(
  outcomes: readonly Outcome[],
  known: KnownHealth,
  policy: BreakerPolicy,
): Judgement {
  const followed = new Map<string, Followed>();
  const settlements = outcomes.map((outcome) => {
    const health =
      isByHand(outcome) || isOwnFailure(outcome.sent.result)
        ? null
        : follow(outcome, followed, known, policy);
    return settle(outcome, health, known.now, policy);
  });
  const changes = [...followed.values()].map(({ era, before, health }) => ({
    era,
    before,
    after: health,
  }));
  return { settlements, changes };
}

/** The health after an outcome; null when the endpoint was enabled anew since it was sent. */
function follow(
  { delivery, sent, verdict }: Outcome,
  followed: Map<string, Followed>,
  { now, byEndpoint }: KnownHealth,
  policy: BreakerPolicy,
): Health | null {
  const { endpointId, endpoint, enabledAt, isProbe } = delivery;
  const stored = byEndpoint.get(endpointId);
  if (stored && stored.enabledAt > enabledAt) return null;
  let entry = followed.get(endpointId);
  if (!entry || entry.era.enabledAt < enabledAt) {
    const before = stored?.enabledAt === enabledAt ? stored.health : unknownHealth(now);
    entry = {
      before,
      era: { endpointId, environmentId: endpoint.environmentId, enabledAt },
      health: before,
    };
    followed.set(endpointId, entry);
  }
  const observation = {
    isSuccess: verdict.kind === 'delivered',
    isProbe,
    disableReason: disablingOf(sent.result),
  };
  entry.health = healthAfter(entry.health, observation, now, policy);
  return entry.health;
}

function settle(
  outcome: Outcome,
  health: Health | null,
  now: number,
  { horizon }: BreakerPolicy,
): Settlement {
  const { verdict, delivery } = outcome;
  const isTooOld = now - Date.parse(delivery.queuedAt) >= horizon;
  if (isOwnFailure(outcome.sent.result) && !isByHand(outcome)) {
    const state = isTooOld ? 'exhausted' : 'pending';
    return { outcome, state, delayMs: ownFailureDelay, isCounted: false };
  }
  if (isDeferred(outcome, health)) {
    const isCounted = !delivery.isProbe;
    return { outcome, state: isTooOld ? 'exhausted' : 'pending', delayMs: 0, isCounted };
  }
  switch (verdict.kind) {
    case 'delivered':
      return { outcome, state: 'delivered', delayMs: 0, isCounted: false };
    case 'retry':
      return isByHand(outcome)
        ? { outcome, state: 'exhausted', delayMs: 0, isCounted: true }
        : { outcome, state: 'pending', delayMs: verdict.delay, isCounted: true };
    case 'exhausted':
      return { outcome, state: 'exhausted', delayMs: 0, isCounted: true };
    default:
      return verdict satisfies never;
  }
}

/** The end of its ladder does not count for a probe: it was sent for the endpoint's sake. */
function isDeferred(outcome: Outcome, health: Health | null): boolean {
  if (health?.state !== 'open') return false;
  const { delivery, verdict } = outcome;
  if (verdict.kind === 'retry') return true;
  return verdict.kind === 'exhausted' && verdict.cause === 'attempts' && delivery.isProbe;
}
