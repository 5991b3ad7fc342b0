import { createHmac } from 'node:crypto';
import type { SubscriptionId } from './subscription.ts';

/** Makes the password of a subscription; null in processes that have no secret. */
export type PasswordOf = (id: SubscriptionId) => string;

/**
 * Passwords that follow from the ids, so that no log or read model ever holds one, the answer of a
 * repeated request shows the same again, and whoever configures NATS can make it too.
 */
export const derivedPasswords =
  (key: Uint8Array): PasswordOf =>
  (id) =>
    createHmac('sha256', key).update(`event subscription\n${id}`).digest('base64url');
