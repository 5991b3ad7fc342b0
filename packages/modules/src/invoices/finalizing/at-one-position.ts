import type { AskingContext } from '@counterfoil/engine/define';
import { canonicalJson, Problem } from '@counterfoil/kernel';
import type { Computed } from '../computing.ts';
import type { UsageReading, UsageReadings } from '../usage-readings.ts';

/** Rounds in which figures may come out otherwise than before; each takes as long as to read their usage. */
const roundsMaximum = 5;

/**
 * Figures as they are at one position of the log (ADR 49). Where usage was counted while they were read, they are computed again: what
 * comes out twice the same was so at the position between. Throws 503 where it goes on changing.
 *
 * @param compute computes all figures, with the reading of usage that it is given
 */
export async function atOnePosition(
  context: AskingContext,
  usage: UsageReadings,
  compute: (read: () => Promise<UsageReading>) => Promise<Computed>,
): Promise<Computed> {
  let before: Computed | null = null;
  for (let round = 0; round <= roundsMaximum; round += 1) {
    let reading: UsageReading | null = null;
    const figures = await compute(async () => {
      reading = await usage.byNow(context);
      return reading;
    });
    const isStill = (reading as UsageReading | null)?.isStill;
    if (!isStill || (await isStill()) || isSame(before, figures)) return figures;
    before = figures;
  }
  throw new Problem(
    'service_unavailable',
    'The usage that is billed changes while it is read. Retry shortly.',
    { retryAfterSeconds: 1 },
  );
}

const isSame = (before: Computed | null, { position: _, ...figures }: Computed): boolean => {
  if (before === null) return false;
  const { position: _before, ...earlier } = before;
  return canonicalJson(earlier) === canonicalJson(figures);
};
