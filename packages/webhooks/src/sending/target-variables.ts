import { flag, listOf } from '@counterfoil/engine';
import { z } from 'zod';
import { isCidr, type TargetPolicy } from './target-policy.ts';

const ranges = listOf(
  z.string().refine(isCidr, 'must be an address range such as 10.0.0.0/8'),
  100,
).default([]);

/** The environment variables that say where deliveries may go: the API and the worker must agree. */
export const targetVariables = {
  WEBHOOK_ALLOW_HTTP: flag.default(false),
  WEBHOOK_ALLOWED_CIDRS: ranges,
  WEBHOOK_DENIED_CIDRS: ranges,
} as const;

/** The policy that the environment variables make. */
export const targetPolicyOf = (
  environment: z.output<z.ZodObject<typeof targetVariables>>,
): TargetPolicy => ({
  allowHttp: environment.WEBHOOK_ALLOW_HTTP,
  allowedCidrs: environment.WEBHOOK_ALLOWED_CIDRS,
  deniedCidrs: environment.WEBHOOK_DENIED_CIDRS,
});
