import type { RequestContext } from '@counterfoil/engine/define';
import { isId, notFound } from '@counterfoil/kernel';
import { requireEndpoint } from './decisions.ts';
import { type Endpoint, webhookEndpoint } from './endpoint.ts';

/** An id that no endpoint can have is answered like one that none has: 404. */
export function possibleId(id: string): string {
  if (!isId('webhook', id)) throw notFound('webhook endpoint', id);
  return id;
}

/** The endpoint as the log has it, never behind; 404 when there is none. */
export const loadEndpoint = async (context: RequestContext, id: string): Promise<Endpoint> =>
  requireEndpoint(await context.load(webhookEndpoint, possibleId(id)), id);
