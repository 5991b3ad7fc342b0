import { timingSafeEqual } from 'node:crypto';
import type { SenderAccess } from '../define/event-gateway.ts';
import { sendingSubject } from '../define/subject.ts';
import type { GatewayKeys } from './keys.ts';

/** A system outside that sends facts, as its account at the gateway names it. */
export interface Sender {
  readonly intake: string;
  readonly tenantId: string;
  readonly environmentId: string;
  readonly keyId: string;
}

const prefix = 'sent';

/** All subjects under which facts come from the gateway to the api: see `sentSubject`. */
export const sentSubjects = `${prefix}.*.v1.*.*.*.*`;

/**
 * The subject under which the facts of a sender come to the api. It says who sends, and only the claims of the
 * sender's account name it. The mark at its end keeps those who may speak to the broker but do not have the
 * installation's secret from making one up.
 */
export function sentSubject(
  keys: Pick<GatewayKeys, 'mark'>,
  { intake, scope, keyId }: Pick<SenderAccess, 'intake' | 'scope' | 'keyId'>,
): string {
  const who = `${sendingSubject(intake, scope)}.${keyId}`;
  return `${prefix}.${who}.${keys.mark(who)}`;
}

/** The sender that a subject names; null for a subject that this installation has not made. */
export function senderOf(keys: Pick<GatewayKeys, 'mark'>, subject: string): Sender | null {
  const tokens = subject.split('.');
  const [, intake, , tenantId, environmentId, keyId, given] = tokens;
  if (!intake || !tenantId || !environmentId || !keyId || !given) return null;
  const mark = Buffer.from(keys.mark(tokens.slice(1, -1).join('.')));
  const shown = Buffer.from(given);
  if (mark.length !== shown.length || !timingSafeEqual(mark, shown)) return null;
  return { intake, tenantId, environmentId, keyId };
}
