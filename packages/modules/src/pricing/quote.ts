import {
  type Currency,
  type DecimalText,
  decimal,
  divide,
  invalidField,
  textOf,
  withoutNulls,
} from '@counterfoil/kernel';
import type { Charge, TierCharge } from './charge.ts';
import { type Cost, cost, costOfBuckets } from './cost.ts';
import { displayTotal } from './display-amount.ts';
import { explainCharge, explainCost, writerOf } from './explain.ts';
import type { Quote, QuoteBody, QuoteCharge } from './schema.ts';
import type { PriceTerms } from './terms.ts';

const effectiveDigits = 15;

/**
 * The answer to a request for a quote.
 *
 * @throws a Problem when buckets are asked for at a price with a minimum quantity, which is FIXED
 */
export function quoteOf(terms: PriceTerms, body: QuoteBody, currency: Currency): Quote {
  return quoteView(costAsked(terms, body, currency));
}

function costAsked(
  terms: PriceTerms,
  { quantity, quantities }: QuoteBody,
  currency: Currency,
): Cost {
  if (!quantities) return cost(terms, quantity ?? ('0' as DecimalText), currency);
  if (terms.minimum_quantity !== '0') {
    const message = 'a price with a minimum quantity has no buckets: give quantity';
    throw invalidField('/quantities', message);
  }
  return costOfBuckets(terms, quantities, currency);
}

/** A cost as it is shown: the figures under their names on the wire, and each step in words. */
export function quoteView(shown: Cost): Quote {
  const { charges, price_unit, ...figures } = shown;
  const write = writerOf(shown);
  const lines = charges.map((charge) => explainCharge(charge, write));
  return withoutNulls({
    ...figures,
    display_amount: displayTotal(shown.amount, shown.currency),
    effective_unit_amount: effectiveUnitAmount(shown),
    price_unit,
    charges: charges.map((charge, index) => chargeView(charge, lines[index] ?? [])),
    explanation: explainCost(shown, lines),
  });
}

function effectiveUnitAmount({ unrounded_amount, billed_quantity }: Cost): DecimalText | null {
  if (billed_quantity === '0') return null;
  return textOf(divide(decimal(unrounded_amount), decimal(billed_quantity), effectiveDigits));
}

function chargeView(charge: Charge, explanation: string[]): QuoteCharge {
  switch (charge.model) {
    case 'flat_fee': {
      const { model: _model, ...figures } = charge;
      return { billing_model: 'FLAT_FEE', ...figures, explanation };
    }
    case 'package': {
      const { model: _model, divide_by, round, ...figures } = charge;
      const transform_quantity = { divide_by, round };
      return { billing_model: 'PACKAGE', ...figures, transform_quantity, explanation };
    }
    case 'volume':
    case 'graduated': {
      const { model, tiers, ...figures } = charge;
      return {
        billing_model: 'TIERED',
        tier_mode: model === 'volume' ? 'VOLUME' : 'SLAB',
        ...figures,
        tiers: tiers.map(tierView),
        explanation,
      };
    }
  }
}

const tierView = (tier: TierCharge) => withoutNulls({ ...tier });
