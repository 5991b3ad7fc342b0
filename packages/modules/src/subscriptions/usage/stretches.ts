import type { Span } from '@counterfoil/kernel';
import { stretchesOfUsers, type UsageStretch } from '../../usage/index.ts';
import { type User, usersOf } from '../families/family.ts';
import { unbilledPauses } from '../pauses/pause.ts';
import { outside } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';

/**
 * The stretches of a span in which the usage of the same customers counts, in the order of time. In pauses nobody's does,
 * and that of a customer who inherits a subscription counts from when it began to until it ceased to (E 10.9).
 */
export const stretchesOf = (
  users: readonly User[],
  pauses: readonly Span[],
  span: Span,
): readonly UsageStretch[] =>
  outside(span, pauses).flatMap((part) => stretchesOfUsers(users, part));

/** The stretches of a span in which usage is billed by a subscription. */
export const billedStretches = (state: Subscription, span: Span): readonly UsageStretch[] =>
  stretchesOf(usersOf(state), unbilledPauses(state), span);
