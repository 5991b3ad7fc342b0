/** Milliseconds since 1970. */
export type Moment = number;

export interface Stretch {
  readonly from: Moment;
  readonly to: Moment;
}

interface BilledTier {
  /** Null: without an end. */
  readonly upTo: string | null;
  readonly each: string;
  readonly flat: string;
}

/** A price; amounts are decimal texts. */
export type BilledPrice =
  | { readonly model: 'flat'; readonly each: string }
  | {
      readonly model: 'package';
      readonly of: number;
      readonly each: string;
      readonly round: 'up' | 'down';
    }
  | { readonly model: 'graduated' | 'volume'; readonly tiers: readonly BilledTier[] };

/** A line of a subscription. */
export interface BilledItem {
  readonly name: string;
  readonly kind: 'advance' | 'arrear' | 'usage';
  readonly price: BilledPrice;
  readonly quantity: number;
  /** True where its price has the taxes in it. */
  readonly isInclusive: boolean;
  /** Months that its price is for: as many as the subscription's periods have, or more. */
  readonly months: number;
}

/** Usage of the line of that name. */
export interface BilledUse {
  readonly line: string;
  readonly at: Moment;
  /** The instant from which on it can be counted. */
  readonly arrives: Moment;
  /** A decimal text. */
  readonly value: string;
}

/** Usage that is free in each period of its own. */
export interface FreeUse {
  readonly line: string;
  readonly limit: number;
  readonly resets: 'MONTHLY' | 'DAILY' | 'NEVER';
}

export interface BilledDiscount {
  /** The line that it is taken off; null: the whole. */
  readonly line: string | null;
  /** A percentage, or an amount in the smallest unit of the currency. */
  readonly off: { readonly percent: string } | { readonly units: number };
  readonly counts: 'once' | 'forever' | { readonly periods: number };
}

/** A percentage, or an amount in the smallest unit of the currency. */
export type BilledRate = { readonly percent: string } | { readonly units: number };

/** Prepaid credits, in the smallest unit of the currency. */
export interface BilledWallet {
  readonly units: number;
  readonly pays: 'USAGE' | 'ALL';
}

/** Something that a caller does. It is charged and given back in proportion where `prorates` says so; a quantity always is. */
export type BilledAct = { readonly at: Moment; readonly prorates: boolean } & (
  | { readonly kind: 'quantity'; readonly line: string; readonly quantity: number }
  | { readonly kind: 'add'; readonly item: BilledItem }
  | { readonly kind: 'remove'; readonly line: string }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'cancel at end' }
  | { readonly kind: 'cancel on'; readonly on: Moment }
);

/** A subscription, and everything that decides about its invoices. All of them are paid as soon as they are final. */
export interface BilledLife {
  /** Digits of the currency. */
  readonly digits: number;
  readonly start: Moment;
  /** Months of a period. */
  readonly months: 1 | 3;
  readonly anchor: 'start' | 'calendar';
  readonly prorates: boolean;
  /** In the order in which the subscription has them. */
  readonly items: readonly BilledItem[];
  readonly uses: readonly BilledUse[];
  readonly free: readonly FreeUse[];
  readonly discounts: readonly BilledDiscount[];
  readonly rates: readonly BilledRate[];
  /** True for a customer of whom no tax is taken. */
  readonly isExempt: boolean;
  /** In the order in which they are drawn. */
  readonly wallets: readonly BilledWallet[];
  /** In their order. */
  readonly acts: readonly BilledAct[];
  /** The instant up to which it is lived. */
  readonly until: Moment;
}

/** A line of an invoice; amounts and quantities are decimal texts. */
export interface ShownLine {
  readonly kind: 'usage' | 'late_usage' | 'fixed' | 'credit';
  readonly name: string;
  readonly from: Moment;
  readonly to: Moment;
  readonly quantity: string;
  readonly amount: string;
  readonly line_discount: string;
  readonly invoice_discount: string;
  readonly credits: string;
  /** On top of the amount. */
  readonly tax: string;
  /** In the amount. */
  readonly included_tax: string;
}

/** An invoice as it must be. */
export interface ShownBill {
  readonly reason:
    | 'SUBSCRIPTION_CREATE'
    | 'SUBSCRIPTION_CYCLE'
    | 'SUBSCRIPTION_UPDATE'
    | 'PRORATION';
  /** Null: it came to nothing, and was left behind. */
  readonly number: string | null;
  readonly lines: readonly ShownLine[];
  readonly subtotal: string;
  readonly total_discount: string;
  readonly total_credits: string;
  readonly total_tax: string;
  /** True where taxes were left out because the customer is exempt. */
  readonly is_exempt: boolean;
  readonly total: string;
}
