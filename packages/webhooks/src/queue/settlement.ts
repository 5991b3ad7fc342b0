import { disableReasonOf, type FollowUp, isWorkerFailure } from '../sending/retry.ts';
import type { Sent } from '../sending/sender.ts';
import type { Claimed } from './claim.ts';
import { type BreakerPolicy, type Health, healthAfter, unknownHealth } from './health.ts';
import type { HealthChange, KnownHealth } from './health-store.ts';

/** The end of one attempt, and what is to follow it as far as its delivery alone is concerned. */
export interface Outcome {
  readonly delivery: Claimed;
  readonly sent: Sent;
  readonly followUp: FollowUp;
}

/** The state of a delivery after an attempt. */
export interface Settlement {
  readonly outcome: Outcome;
  readonly state: 'delivered' | 'pending' | 'exhausted';
  /** Milliseconds until it is due again. */
  readonly delayMs: number;
  /** True when it uses up an attempt of its ladder. */
  readonly isCounted: boolean;
}

/** The states of deliveries after their attempts, and the health of their endpoints. */
export interface Settlements {
  readonly settlements: readonly Settlement[];
  readonly healthChanges: readonly HealthChange[];
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

/** Milliseconds until a delivery is tried again that failed by the worker's own fault. */
const workerFailureDelay = 30_000;

/**
 * Settles deliveries after their attempts, with regard to the health of their endpoints. Pure.
 *
 * A failed probe uses up no attempt, and what fails while the endpoint is held back stays due, behind
 * the others, until the endpoint is well or the delivery older than the horizon. Nor does a failure of
 * the worker itself use one up: the delivery is tried again a little later.
 */
export function settle(
  outcomes: readonly Outcome[],
  known: KnownHealth,
  policy: BreakerPolicy,
): Settlements {
  const followed = new Map<string, Followed>();
  const settlements = outcomes.map((outcome) => {
    const health =
      isByHand(outcome) || isWorkerFailure(outcome.sent.result)
        ? null
        : follow(outcome, followed, known, policy);
    return settlementOf(outcome, health, known.now, policy);
  });
  const healthChanges = [...followed.values()].map(({ era, before, health }) => ({
    era,
    before,
    after: health,
  }));
  return { settlements, healthChanges };
}

/** The health after an outcome; null when the endpoint was enabled again after the request was sent. */
function follow(
  { delivery, sent, followUp }: Outcome,
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
    isSuccess: followUp.kind === 'delivered',
    isProbe,
    disableReason: disableReasonOf(sent.result),
  };
  entry.health = healthAfter(entry.health, observation, now, policy);
  return entry.health;
}

function settlementOf(
  outcome: Outcome,
  health: Health | null,
  now: number,
  { horizon }: BreakerPolicy,
): Settlement {
  const { followUp, delivery } = outcome;
  const isTooOld = now - Date.parse(delivery.queuedAt) >= horizon;
  if (isWorkerFailure(outcome.sent.result) && !isByHand(outcome)) {
    const state = isTooOld ? 'exhausted' : 'pending';
    return { outcome, state, delayMs: workerFailureDelay, isCounted: false };
  }
  if (isDeferred(outcome, health)) {
    const isCounted = !delivery.isProbe;
    return { outcome, state: isTooOld ? 'exhausted' : 'pending', delayMs: 0, isCounted };
  }
  switch (followUp.kind) {
    case 'delivered':
      return { outcome, state: 'delivered', delayMs: 0, isCounted: false };
    case 'retry':
      return isByHand(outcome)
        ? { outcome, state: 'exhausted', delayMs: 0, isCounted: true }
        : { outcome, state: 'pending', delayMs: followUp.delay, isCounted: true };
    case 'exhausted':
      return { outcome, state: 'exhausted', delayMs: 0, isCounted: true };
    default:
      return followUp satisfies never;
  }
}

/**
 * Tells whether a failure leaves its delivery due, because the endpoint is held back. The end of its ladder
 * does not count for a probe, which was sent for the endpoint's sake.
 */
function isDeferred(outcome: Outcome, health: Health | null): boolean {
  if (health?.state !== 'open') return false;
  const { delivery, followUp } = outcome;
  if (followUp.kind === 'retry') return true;
  return followUp.kind === 'exhausted' && followUp.cause === 'attempts' && delivery.isProbe;
}
