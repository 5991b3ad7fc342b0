import { createHash } from 'node:crypto';
import { canonicalJson } from '@counterfoil/kernel';

/**
 * The key of a request that makes something of which no money is taken. What is asked belongs to it: Stripe refuses other contents
 * under a key that it knows, for as long as it keeps that, and what is asked may change before the answer is heard.
 */
export function keyed(key: string, params: object): { readonly idempotencyKey: string } {
  const digest = createHash('sha256').update(canonicalJson(params)).digest('hex').slice(0, 16);
  return { idempotencyKey: `${key}-${digest}` };
}
