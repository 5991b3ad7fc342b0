import type { RequestContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, type Instant, invariant, zeroText } from '@counterfoil/kernel';
import {
  countedLimit,
  type GrantsOf,
  type LimitPeriod,
  type MeteredEntitlement,
  type SharedLimit,
  spanOfLimit,
} from '../entitlements/index.ts';
import { addsUp, usageShown, usedIn } from '../usage/index.ts';
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
  /** Those who use the limit up together; null: the customer alone does. */
  readonly shared: SharedLimit | null;
}

/** The use that is granted at an instant; null where the feature is not metered, or not granted. */
export function grantedUse(asked: AskedFeature, at: Instant): GrantedUse | null {
  const { granted: all, counted } = asked;
  if (typeof all === 'string' || all.feature_type !== 'metered') return null;
  invariant(counted, `${asked.feature.id} is metered and has no meter`);
  const { entitlement: granted, period, shared } = countedLimit(all, at);
  // A level is not used up by several: each has its own.
  return {
    ...asked,
    granted,
    counted,
    period,
    shared: addsUp(counted.aggregation) ? shared : null,
  };
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
  const use = grantedUse(asked, context.now);
  if (!use) return plainAnswer(true, 'granted');
  const { customer, counted, period, shared } = use;
  const position = await usageShown(context);
  const used = await usedIn(context, {
    customer,
    counting: counted,
    period: spanOfLimit(period),
    now: context.now,
    users: shared?.users ?? null,
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
