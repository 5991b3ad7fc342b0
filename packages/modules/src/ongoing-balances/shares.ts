import {
  type Decimal,
  type DecimalText,
  decimal,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';

/** Money that a customer is going to pay, by what it is for. */
export interface Owed {
  /** Usage that is not billed yet. */
  readonly running: DecimalText;
  /** Usage on invoices that are not paid. */
  readonly usage: DecimalText;
  /** Everything else on them. */
  readonly rest: DecimalText;
}

/** A prepaid wallet that may pay some of it. */
export interface Bearer {
  /** Money that it has. */
  readonly worth: DecimalText;
  readonly price_types: readonly ('ALL' | 'USAGE' | 'FIXED')[];
}

/** The part of what is owed that one wallet bears. */
export interface Share {
  readonly current_period_usage: DecimalText;
  readonly unpaid_invoices_amount: DecimalText;
}

type Kind = keyof Owed;

/** The kinds in the order in which they are paid: what is owed longest comes first. */
const kinds: readonly Kind[] = ['usage', 'rest', 'running'];

/**
 * The wallets that may pay for a kind (E 18.8): for usage that is not billed those that may pay for usage; for an invoice those that
 * may pay for usage alone its usage, and all others the whole.
 */
function mayBear({ price_types: types }: Bearer, kind: Kind): boolean {
  const isForUsage = types.includes('USAGE') || types.includes('ALL');
  const isForAll = types.includes('FIXED') || types.includes('ALL');
  switch (kind) {
    case 'running':
      return isForUsage;
    case 'usage':
      return isForUsage || isForAll;
    case 'rest':
      return isForAll;
    default:
      return kind satisfies never;
  }
}

/**
 * Divides what is owed among the wallets of a customer, in their order, as invoices will draw them: each bears what it may pay and has. What
 * they do not have together is borne by the last that may pay it, whose balance falls below zero. So nothing is taken off twice, and all
 * that some wallet may pay is taken off.
 */
export function sharesOf(bearers: readonly Bearer[], owed: Owed): readonly Share[] {
  const borne = bearers.map(() => ({ running: zero, usage: zero, rest: zero }));
  const left: Record<Kind, Decimal> = {
    running: decimal(owed.running),
    usage: decimal(owed.usage),
    rest: decimal(owed.rest),
  };
  const take = (index: number, kind: Kind, amount: Decimal): void => {
    const own = borne[index];
    if (!own || amount.cmp(zero) <= 0) return;
    own[kind] = own[kind].plus(amount);
    left[kind] = left[kind].minus(amount);
  };
  for (const [index, bearer] of bearers.entries()) {
    let room = decimal(bearer.worth);
    for (const kind of kinds) {
      if (!mayBear(bearer, kind) || room.cmp(zero) <= 0) continue;
      const taken = smaller(left[kind], room);
      take(index, kind, taken);
      room = room.minus(taken);
    }
  }
  for (const kind of kinds) {
    take(
      bearers.findLastIndex((bearer) => mayBear(bearer, kind)),
      kind,
      left[kind],
    );
  }
  return borne.map(({ running, usage, rest }) => ({
    current_period_usage: textOf(running),
    unpaid_invoices_amount: textOf(usage.plus(rest)),
  }));
}
