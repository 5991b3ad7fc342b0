import { z } from 'zod';

/**
 * The events of a subscription that those who inherit it live through with it. They have no lines, grants or add-ons, so
 * nothing of what is charged is among them.
 */
export const followedTypes = [
  'SubscriptionActivated',
  'SubscriptionDeleted',
  'TrialMoved',
  'TrialEnded',
  'FirstPaymentMade',
  'PeriodOpened',
  'PeriodClosed',
  'PauseStarted',
  'PauseEndChanged',
  'PauseEnded',
  'SubscriptionCancelled',
] as const;
export type FollowedType = (typeof followedTypes)[number];

/** An event as it is told. Its data is parsed where it is recorded again. */
export const followedData = z.object({ type: z.enum(followedTypes), data: z.unknown() });
