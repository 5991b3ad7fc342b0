import { invalidOperation } from '@counterfoil/kernel';

/** The largest number of things of a kind that a tenant or one of its environments may have (D45). */
export interface Quota {
  readonly most: number;
  /** The things and where they are: `API keys in this environment`. */
  readonly noun: string;
  /** The caller's way out, as a sentence. */
  readonly remedy: string;
}

/** Refuses one more where there are as many as there may be. */
export function refuseBeyond({ most, noun, remedy }: Quota, count: number): void {
  if (count < most) return;
  throw invalidOperation(`There are ${count} ${noun}, and ${most} is the limit. ${remedy}`, {
    reason: 'limit_reached',
    limit: most,
  });
}
