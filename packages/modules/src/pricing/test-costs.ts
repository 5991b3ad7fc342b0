import { strictEqual } from 'node:assert';
import type { Currency } from '@counterfoil/kernel';
import { cost } from './cost.ts';
import type { PriceTerms } from './terms.ts';
import { text } from './test-terms.ts';

/** A quantity, what it costs exactly, and what is charged. */
export type CostRow = readonly [quantity: string, unrounded: string, amount: string];

/** Holds the cost of quantities against figures that were worked out without the pricing engine. */
export function costs(terms: PriceTerms, currency: string, rows: readonly CostRow[]): void {
  for (const [quantity, unrounded, amount] of rows) {
    const found = cost(terms, text(quantity), currency as Currency);
    strictEqual(found.unrounded_amount, unrounded, `the exact cost of ${quantity}`);
    strictEqual(found.amount, amount, `the rounded cost of ${quantity}`);
    strictEqual(found.quantity, quantity);
  }
}
