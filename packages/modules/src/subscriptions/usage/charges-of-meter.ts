import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  decimal,
  invalidField,
  invalidOperation,
  type Span,
  textOf,
  zeroText,
} from '@counterfoil/kernel';
import { type ChargesOf, isActive, type UsageCharge, usageTables } from '../../usage/index.ts';
import { existingSubscription } from '../decisions.ts';
import { usersOf } from '../families/family.ts';
import type { Line } from '../lines/line.ts';
import { unbilledPauses } from '../pauses/pause.ts';
import { subscriptionTable } from '../projection.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { billingPeriodsIn } from './billing-periods.ts';
import { allowancesOf, chargedFor, partOf } from './charges.ts';
import { type Charging, ratedUsage } from './rated-line.ts';
import { stretchesOf } from './stretches.ts';

/** Subscriptions that one answer looks at, and parts of billing periods that it rates. */
const subscriptionsMaximum = 1_000;
const partsMaximum = 400;

/**
 * The charges for usage in a span by the subscriptions of customers, net of what entitlements make free and before any commitment:
 * one for each line of usage and each billing period that meets the span. One of a part of a period is what comes to the
 * charge for the period by it: what is charged up to its end, less what is charged up to its start. So the charges of spans
 * that follow one another add up.
 */
export const chargesOf: ChargesOf = async (context, { customerIds, span }) => {
  const position = await context.facts.shown(usageTables);
  const states = await subscriptionsOf(context, customerIds);
  let parts = 0;
  return async (meterId) => {
    const charges: UsageCharge[] = [];
    for (const state of states) {
      const lines = state.lines.filter(({ price }) => price.meter_id === meterId);
      for (const line of lines) {
        const pieces = piecesOf(state, line, span);
        parts += pieces.length;
        if (parts > partsMaximum) throw tooManyParts();
        charges.push(
          ...(await chargesFor(context, { state, customerIds, position }, line, pieces)),
        );
      }
    }
    return charges;
  };
};

const tooManyParts = () =>
  invalidField(
    '/start_time',
    `gives more than ${partsMaximum} billing periods whose usage is priced: ask for a shorter span, or fewer features`,
  );

/** The subscriptions under which the usage of customers is charged: in the place of one that is inherited that of its parent. */
async function subscriptionsOf(
  context: RequestContext,
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

/** A part of a span that lies in one billing period. */
interface Piece {
  readonly billing: Span;
  readonly part: Span;
}

function piecesOf(state: Subscription, line: Line, span: Span): readonly Piece[] {
  const part = partOf(line, state, span);
  if (part === null || line.price.type !== 'USAGE') return [];
  return billingPeriodsIn(state, line, part).flatMap((billing) => {
    const own = partOf(line, state, billing);
    const start = billing.start > part.start ? billing.start : part.start;
    const end = billing.end < part.end ? billing.end : part.end;
    return own === null || start >= end ? [] : [{ billing: own, part: { start, end } }];
  });
}

async function chargesFor(
  context: RequestContext,
  { state, customerIds, position }: Pick<Charging, 'state' | 'position'> & Asked,
  line: Line,
  pieces: readonly Piece[],
): Promise<readonly UsageCharge[]> {
  if (pieces.length === 0) return [];
  const allowances = await allowancesOf(context, state);
  const pauses = unbilledPauses(state);
  const users = usersOf(state);
  const charges: UsageCharge[] = [];
  for (const { billing, part } of pieces) {
    const active = users.filter((user) => isActive(user, part));
    const asked = active.filter(({ customer_id }) => customerIds.includes(customer_id));
    if (asked.length === 0) continue;
    const charging: Charging = { state, users, position, allowances, billing };
    const chargedUpTo = async (end: Span['end']): Promise<DecimalText> => {
      if (end <= billing.start) return zeroText;
      const rated = await ratedUsage(context, charging, line, { start: billing.start, end });
      return rated.net.amount;
    };
    const [all, before] = [await chargedUpTo(part.end), await chargedUpTo(part.start)];
    charges.push({
      all: stretchesOf(active, pauses, part),
      asked: asked.length === active.length ? null : stretchesOf(asked, pauses, part),
      span: part,
      currency: line.price.currency as Currency,
      amount: textOf(decimal(all).minus(decimal(before))),
    });
  }
  return charges;
}

interface Asked {
  readonly customerIds: readonly string[];
}
