import { Problem } from '@counterfoil/kernel';

interface QuotaOptions {
  /** Refusals of one tenant that are remembered per hour. */
  readonly perHour: number;
  /** Milliseconds that only ever rise. */
  readonly now?: () => number;
}

const hourMs = 60 * 60 * 1_000;

/**
 * Bounds the refusals of a tenant that are remembered under idempotency keys: each is an event that stays for
 * ever (D45). What is used of an hour's number comes back evenly within the hour.
 */
export class RefusalQuota {
  readonly #perHour: number;
  readonly #now: () => number;
  /** One entry for each tenant that was refused something; those that are whole again go. */
  readonly #used = new Map<string, { readonly count: number; readonly at: number }>();

  constructor({ perHour, now = () => performance.now() }: QuotaOptions) {
    this.#perHour = perHour;
    this.#now = now;
  }

  /** Throws a `Problem` too_many_requests when the tenant has used up its number. */
  assertLeft(tenant: string): void {
    const used = this.#usedBy(tenant);
    if (used + 1 <= this.#perHour) return;
    throw new Problem(
      'too_many_requests',
      `More than ${this.#perHour} requests of this tenant with idempotency keys were refused within an hour. ` +
        'Repeat after Retry-After seconds, and see why they are refused.',
      {
        retryAfterSeconds: Math.ceil(((used - this.#perHour + 1) * hourMs) / this.#perHour / 1_000),
        details: { reason: 'limit_reached', limit: this.#perHour },
      },
    );
  }

  /** Counts a refusal that is remembered. */
  note(tenant: string): void {
    this.#used.set(tenant, { count: this.#usedBy(tenant) + 1, at: this.#now() });
  }

  #usedBy(tenant: string): number {
    const last = this.#used.get(tenant);
    if (!last) return 0;
    const count = last.count - ((this.#now() - last.at) * this.#perHour) / hourMs;
    if (count <= 0) this.#used.delete(tenant);
    return Math.max(0, count);
  }
}
