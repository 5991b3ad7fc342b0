import { existing, invariant, withoutNulls } from '@counterfoil/kernel';
import type { UsageAlertResource } from './schema.ts';
import { isSame, levelOf } from './thresholds.ts';
import type { Crossed, UsageAlertState } from './usage-alert.ts';

/** The usage alert as the API shows it: each threshold with how it was crossed in the period. */
export function usageAlertView(state: UsageAlertState): UsageAlertResource {
  const {
    event_name: _,
    crossed,
    period,
    limit,
    thresholds,
    ...fields
  } = existing(state, 'usage alert');
  return withoutNulls({
    ...fields,
    usage_limit: limit?.value ?? null,
    thresholds: thresholds.map((threshold) => {
      const level = levelOf(threshold, limit);
      invariant(level !== null, 'a percentage has a limit');
      const found = crossed.find((one) => isSame(one, { threshold, level }));
      return found ? crossedView(found) : { ...threshold, level };
    }),
    period_start: period?.start ?? null,
    period_end: period?.end ?? null,
  });
}

/** A threshold that was crossed. */
export const crossedView = ({ threshold, ...crossing }: Crossed) => ({ ...threshold, ...crossing });
