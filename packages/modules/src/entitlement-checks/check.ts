import type { RequestContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, invariant, zeroText } from '@counterfoil/kernel';
import {
  type GrantsOf,
  type LimitPeriod,
  limitPeriod,
  type MeteredEntitlement,
  spanOfLimit,
} from '../entitlements/index.ts';
import { usageShown, usedIn } from '../usage/index.ts';
import { measuredAnswer, plainAnswer, useOf } from './answer.ts';
import { type AskedFeature, askedFeature } from './asked-feature.ts';
import { checkCredits } from './check-credits.ts';
import type { EntitlementCheck, EntitlementQuestion } from './schema.ts';

/** Answers a question, and changes nothing: of a feature, or of the credits of a wallet (D52). */
export async function checkEntitlement(
  context: RequestContext,
  grantsOf: GrantsOf,
  question: EntitlementQuestion,
): Promise<EntitlementCheck> {
  if (question.wallet_id !== undefined) return checkCredits(context, question);
  return checkFeature(context, await askedFeature(context, grantsOf, question), question);
}

/** A metered feature that a customer is granted, with its meter and the period of its limit. */
export interface GrantedUse extends AskedFeature {
  readonly granted: MeteredEntitlement;
  readonly counted: NonNullable<AskedFeature['counted']>;
  readonly period: LimitPeriod;
}

/** The use that is granted; null where the feature is not metered, or not granted. */
export function grantedUse(context: RequestContext, asked: AskedFeature): GrantedUse | null {
  const { granted, counted } = asked;
  if (typeof granted === 'string' || granted.feature_type !== 'metered') return null;
  invariant(counted, `${asked.feature.id} is metered and has no meter`);
  return { ...asked, granted, counted, period: limitPeriod(granted, context.now) };
}

/** The use of a question that says none. */
export const oneText = '1' as DecimalText;

/** Tells whether a customer may use a feature. */
export async function checkFeature(
  context: RequestContext,
  asked: AskedFeature,
  { quantity = oneText }: Pick<EntitlementQuestion, 'quantity'>,
): Promise<EntitlementCheck> {
  const { granted } = asked;
  if (typeof granted === 'string') return plainAnswer(false, granted);
  const use = grantedUse(context, asked);
  if (!use) return plainAnswer(true, 'granted');
  const { customer, counted, period } = use;
  const position = await usageShown(context);
  const used = await usedIn(context, {
    customer,
    counting: counted,
    period: spanOfLimit(period),
    now: context.now,
  });
  return measuredAnswer({
    entitlement: use.granted,
    period,
    type: counted.aggregation.type,
    used: decimal(used ?? zeroText),
    use: useOf(counted.aggregation, decimal(quantity)),
    position,
  });
}
