import { type AskingContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  decimal,
  invalidField,
  invalidOperation,
  type Span,
  textOf,
} from '@counterfoil/kernel';
import { type ChargesOf, isActive, type UsageCharge, usageTables } from '../../usage/index.ts';
import { existingSubscription } from '../decisions.ts';
import { usersOf } from '../families/family.ts';
import { unbilledPauses } from '../pauses/pause.ts';
import { subscriptionTable } from '../projection.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { lineItemView } from '../view.ts';
import { Books } from './books.ts';
import { chargedFor } from './charges.ts';
import { stretchesOf } from './stretches.ts';

/** Subscriptions that one answer looks at, and billing periods of lines that it rates. */
const subscriptionsMaximum = 1_000;
const periodsMaximum = 400;

/**
 * The charges for usage in a span by the subscriptions of customers, net of what entitlements make free, and by what is within and above
 * commitments: one for each line of usage and each billing period that meets the span. One of a part of a period is what comes to the
 * charge for the period by it: what is charged up to its end, less what is charged up to its start. So the charges of spans
 * that follow one another add up.
 */
export const chargesOf: ChargesOf = async (context, { customerIds, span }) => {
  const position = await context.facts.shown(usageTables);
  const states = await subscriptionsOf(context, customerIds);
  const periods = new Set<string>();
  const count = (period: string): void => {
    periods.add(period);
    if (periods.size > periodsMaximum) throw tooManyPeriods();
  };
  const all = states.map((state) => ({
    state,
    books: new Books(context, { state, users: usersOf(state), position }, count),
  }));
  return async (meterId) => {
    const charges: UsageCharge[] = [];
    for (const { state, books } of all) {
      charges.push(...(await chargesBy(books, state, { meterId, customerIds, span })));
    }
    return charges;
  };
};

const tooManyPeriods = () =>
  invalidField(
    '/start_time',
    `gives more than ${periodsMaximum} billing periods whose usage is priced: ask for a shorter span, or fewer features`,
  );

/** The subscriptions under which the usage of customers is charged: in the place of one that is inherited that of its parent. */
async function subscriptionsOf(
  context: AskingContext,
  customerIds: readonly string[],
): Promise<readonly Subscription[]> {
  const ids = await context.read.ids(
    subscriptionTable,
    [
      ...where('customer_id', 'in', [...customerIds]),
      ...where('subscription_status', 'not_in', ['draft']),
    ],
    subscriptionsMaximum + 1,
  );
  if (ids.length > subscriptionsMaximum) {
    throw invalidOperation(
      `The customers have more than ${subscriptionsMaximum} subscriptions. Ask for fewer of them.`,
      { reason: 'limit_reached', limit: subscriptionsMaximum },
    );
  }
  const states = await Promise.all(ids.map((id) => context.recalled.load(subscription, id)));
  const charged = new Map<string, Subscription>();
  for (const [index, state] of states.entries()) {
    const own = await chargedFor(context, existingSubscription(state, ids[index] ?? ''));
    charged.set(own.id, own);
  }
  return [...charged.values()];
}

interface Asked {
  readonly meterId: string;
  readonly customerIds: readonly string[];
  readonly span: Span;
}

async function chargesBy(
  books: Books,
  state: Subscription,
  { meterId, customerIds, span }: Asked,
): Promise<readonly UsageCharge[]> {
  const pauses = unbilledPauses(state);
  const users = usersOf(state);
  const charges: UsageCharge[] = [];
  for (const piece of await books.piecesOf(meterId, span)) {
    const { line, part } = piece;
    const active = users.filter((user) => isActive(user, part));
    const asked = active.filter(({ customer_id }) => customerIds.includes(customer_id));
    if (asked.length === 0) continue;
    const all = await books.costUpTo(piece, part.end);
    const before = await books.costUpTo(piece, part.start);
    charges.push({
      all: stretchesOf(active, pauses, part),
      asked: asked.length === active.length ? null : stretchesOf(asked, pauses, part),
      span: part,
      soldBy: {
        price: lineItemView(state, state, line).price,
        planId: line.entity_type === 'plan' ? line.entity_id : null,
      },
      currency: line.price.currency as Currency,
      amount: textOf(decimal(all).minus(decimal(before))),
    });
  }
  return charges;
}
