import { Problem, type ProblemCode } from '@counterfoil/kernel';
import { requestRefused } from '../stream-cache/stream-state.ts';
import type { RawEvent } from './command.ts';

interface RefusalData {
  readonly code: ProblemCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** The event that keeps a refusal. */
export const refusalEvent = ({ code, message, details }: Problem): RawEvent => ({
  type: requestRefused,
  data: { code, message, details: details ?? null } satisfies RefusalData,
});

/** The refusal that an event keeps; null for every other event. */
export function refusalOf(event: RawEvent): Problem | null {
  if (event.type !== requestRefused) return null;
  const { code, message, details } = event.data as RefusalData;
  return new Problem(code, message, { isRemembered: true, ...(details ? { details } : {}) });
}
