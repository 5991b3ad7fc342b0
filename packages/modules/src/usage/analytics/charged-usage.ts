import type { AskingContext } from '@counterfoil/engine/define';
import type { Currency, DecimalText, Span } from '@counterfoil/kernel';
import type { Price } from '../../offers/index.ts';
import type { UsageStretch } from './usage-in-stretches.ts';

/** The price and the plan that a line charges usage by. */
export interface SoldBy {
  /** The price as it was sold. */
  readonly price: Price;
  /** The plan that the line came with; null for one that came otherwise. */
  readonly planId: string | null;
}

/** The cost of all that a meter counts in a part of a span, by one line of a subscription. */
export interface UsageCharge {
  /** The usage that is charged together. */
  readonly all: readonly UsageStretch[];
  /** That of the customers whose part is asked for; null: all of it. */
  readonly asked: readonly UsageStretch[] | null;
  readonly span: Span;
  readonly soldBy: SoldBy;
  readonly currency: Currency;
  /** Money; less than zero where later usage has made a level lower. */
  readonly amount: DecimalText;
}

/** The customers whose usage is charged, and the time. */
export interface ChargedUsage {
  readonly customerIds: readonly string[];
  readonly span: Span;
}

/** Gives the charges for what a meter counts; none where nothing prices it. */
export type ChargesOfMeter = (meterId: string) => Promise<readonly UsageCharge[]>;

/** Knows what usage costs by the subscriptions of customers: those stand above usage. */
export type ChargesOf = (context: AskingContext, charged: ChargedUsage) => Promise<ChargesOfMeter>;
