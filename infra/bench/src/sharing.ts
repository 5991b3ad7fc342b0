import type { Figure } from './report.ts';

/** Counters of what processes of the api do for one another, with what they count. */
const counters = {
  counterfoil_append_conflicts_total: 'appends that another process was faster than',
  counterfoil_requests_handed_over_total: 'requests handed to the owner of their stream',
  counterfoil_decisions_without_owner_total: 'of these decided without it',
} as const;

/** The counts of all processes of the api together; nothing for a single one. */
export type Sharing = ReadonlyMap<string, number>;

/** Reads what the processes of the api have counted so far. One that does not answer counts nothing. */
export async function sharing(apiUrls: readonly string[]): Promise<Sharing> {
  const sums = new Map<string, number>();
  if (apiUrls.length === 1) return sums;
  for (const url of apiUrls) {
    const answer = await fetch(`${url}/metrics`).catch(() => null);
    for (const line of (await answer?.text())?.split('\n') ?? []) {
      const [, name = '', value] = /^(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
      if (name in counters) sums.set(name, (sums.get(name) ?? 0) + Number(value));
    }
  }
  return sums;
}

/** The counts between two readings, as figures. */
export const sharedBetween = (before: Sharing, after: Sharing): readonly Figure[] =>
  Object.entries(counters).flatMap(([counter, name]) => {
    const value = after.get(counter);
    return value === undefined
      ? []
      : [{ name, value: value - (before.get(counter) ?? 0), unit: '' }];
  });
