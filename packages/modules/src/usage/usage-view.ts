import type { DecimalText } from '@counterfoil/kernel';

/** A figure as answers show it: exact text, and the nearest double (D53). */
export const usageValueView = (value: DecimalText | null) => ({
  value: value === null ? null : +value,
  total_value: value,
});
