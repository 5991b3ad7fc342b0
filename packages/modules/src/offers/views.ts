import { type DecimalText, existing, invariant, withoutNulls, zeroText } from '@counterfoil/kernel';
import { displayAmount, displayPriceUnitAmount } from '../pricing/index.ts';
import type { EntitlementRecord } from './entitlement/entitlement.ts';
import type { Entitlement } from './entitlement/schema.ts';
import type { CreditGrantRecord } from './grant/credit-grant.ts';
import type { CreditGrant } from './grant/schema.ts';
import type { OfferState } from './offer.ts';
import type { PriceRecord, TierData } from './price/price.ts';
import type { Price } from './price/schema.ts';
import type { AddonRecord, CostsheetRecord, PlanRecord } from './root/roots.ts';
import type { Addon, Costsheet, Plan } from './root/schema.ts';

/** The plan as the API shows it, without what it owns. */
export const planView = (record: PlanRecord | null): Plan => withoutNulls(existing(record, 'plan'));

/** The add-on as the API shows it, without what it owns. */
export const addonView = (record: AddonRecord | null): Addon =>
  withoutNulls(existing(record, 'add-on'));

/** The costsheet as the API shows it, without its prices. */
export const costsheetView = (record: CostsheetRecord | null): Costsheet =>
  withoutNulls(existing(record, 'costsheet'));

const tierView = (tier: TierData) => withoutNulls(tier);

const tiersView = (tiers: readonly TierData[] | null) => tiers?.map(tierView) ?? null;

/** Returns the amount that a price begins at: its own, or that of its first tier. */
const firstAmount = (amount: string | null, tiers: readonly TierData[] | null): DecimalText =>
  (amount ?? tiers?.[0]?.unit_amount ?? zeroText) as DecimalText;

/** The price as the API shows it, with nothing embedded. */
export function priceView(record: PriceRecord | null): Price {
  const { is_final: _isFinal, price_unit, tiers, ...fields } = existing(record, 'price');
  const { amount, currency } = fields;
  return withoutNulls({
    ...fields,
    tax_behavior: fields.tax_behavior ?? 'exclusive',
    tiers: tiersView(tiers),
    display_amount: displayAmount(firstAmount(amount, tiers), currency),
    price_unit_type: price_unit ? 'CUSTOM' : 'FIAT',
    ...unitView(price_unit),
  }) as Price;
}

const unitView = (unit: PriceRecord['price_unit']) =>
  unit && {
    price_unit: unit.code,
    price_unit_id: unit.id,
    conversion_rate: unit.conversion_rate,
    price_unit_amount: unit.amount,
    price_unit_tiers: tiersView(unit.tiers),
    display_price_unit_amount: displayPriceUnitAmount(
      firstAmount(unit.amount, unit.tiers),
      unit.symbol,
    ),
  };

/** The entitlement as the API shows it, with nothing embedded. */
export function entitlementView(record: EntitlementRecord | null): Entitlement {
  const shown = existing(record, 'entitlement');
  const { entity_type, entity_id } = shown;
  invariant(entity_type !== 'COSTSHEET', `the costsheet ${entity_id} has an entitlement`);
  const plan_id = entity_type === 'PLAN' ? entity_id : null;
  return withoutNulls({ ...shown, entity_type, plan_id });
}

/** The credit grant as the API shows it. */
export function creditGrantView(record: CreditGrantRecord | null): CreditGrant {
  const { entity_type, entity_id, ...shown } = existing(record, 'credit grant');
  const isPlan = entity_type === 'PLAN';
  return withoutNulls({
    ...shown,
    scope: isPlan ? ('PLAN' as const) : ('ADDON' as const),
    plan_id: isPlan ? entity_id : null,
    addon_id: isPlan ? null : entity_id,
  });
}

/** A plan with all that it owns as its own log says, with nothing embedded. */
export function wholePlanView(state: OfferState): Plan {
  const { root, prices, entitlements, credit_grants } = existing(state, 'plan');
  return {
    ...planView(root.kind === 'PLAN' ? root.record : null),
    prices: prices.map(priceView),
    entitlements: entitlements.map(entitlementView),
    credit_grants: credit_grants.map(creditGrantView),
  };
}
