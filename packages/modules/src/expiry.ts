import { type Instant, invalidField } from '@counterfoil/kernel';

/** Refuses what would have expired when it is made: 400. Null is what never expires. */
export function refuseExpired(expiresAt: Instant | null, now: Instant): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw invalidField('/expires_at', 'must be in the future');
  }
}
