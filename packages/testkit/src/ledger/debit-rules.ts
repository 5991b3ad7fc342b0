import type { CustomerDebitBody } from './commands.ts';
import { amountPlaces, creditsOf, unitsOf } from './units.ts';

/** As much of a wallet as decides whether and when it is asked to pay. */
export interface Face {
  /** Its number among the wallets of the customer. */
  readonly wallet: number;
  readonly id: string;
  readonly isActive: boolean;
  readonly mayOwe: boolean;
  readonly hasCredits: boolean;
  readonly refills: boolean;
  readonly priority: number | null;
  readonly rate: bigint;
  readonly createdAt: string;
}

/** The sum that a debit is to take. */
export interface Asked {
  /** In the smallest parts of an amount. */
  readonly amount: bigint;
  readonly reason: string;
  readonly isPartial: boolean;
  /** The moment from which it counts, when it is dated back. */
  readonly from: number | null;
}

/** The ruling on a request for a debit, before any wallet is asked. */
export type Outcome =
  | {
      readonly kind: 'begun';
      readonly asked: Asked;
      /** The numbers of the wallets to be asked, in their order. */
      readonly plan: readonly number[];
      /** The numbers of those that top themselves up when it is refused. */
      readonly refilling: readonly number[];
    }
  | {
      readonly kind: 'refused';
      readonly details: Readonly<Record<string, unknown>>;
      readonly isRemembered: boolean;
    };

/** The rules of D76 and D21, from the wallets of the customer as they are. */
export function outcomeOf(body: CustomerDebitBody, faces: readonly Face[]): Outcome {
  const { currency, amount = '0', credits, allow_partial: isPartial = false } = body;
  const { effective_at } = body;
  const from = effective_at === undefined ? null : Date.parse(effective_at);
  const wasThere = ({ createdAt }: Face) => from === null || Date.parse(createdAt) <= from;
  const active = faces.filter((face) => face.isActive && wasThere(face)).toSorted(byTurn);
  const dated = from === null ? {} : { effective_at };
  if (active.length === 0) return refused({ reason: 'no_active_wallet', currency, ...dated }, true);
  if (isPartial && active.some(({ mayOwe }) => mayOwe)) {
    return refused({ reason: 'never_partial' }, false);
  }
  const rates = new Set(active.map(({ rate }) => rate));
  const [rate = 0n] = rates;
  if (credits !== undefined && rates.size > 1) return refused({ reason: 'rates_differ' }, false);
  const { transaction_reason: reason = 'MANUAL_BALANCE_DEBIT' } = body;
  const numbers = (of: readonly Face[]) => of.map(({ wallet }) => wallet);
  return {
    kind: 'begun',
    asked: {
      amount: credits === undefined ? unitsOf(amount, amountPlaces) : creditsOf(credits) * rate,
      reason,
      isPartial,
      from,
    },
    plan: numbers(active.filter(({ mayOwe, hasCredits }) => mayOwe || hasCredits)),
    refilling: numbers(active.filter(({ refills }) => refills && from === null)),
  };
}

const refused = (details: Readonly<Record<string, unknown>>, isRemembered: boolean): Outcome => ({
  kind: 'refused',
  details,
  isRemembered,
});

/** By priority, none last; those that cannot owe first; the oldest first (D21). */
function byTurn(a: Face, b: Face): number {
  const ranks = ({ priority, mayOwe, createdAt, id }: Face) =>
    [priority ?? Number.POSITIVE_INFINITY, mayOwe ? 1 : 0, createdAt, id] as const;
  const [left, right] = [ranks(a), ranks(b)];
  const place = left.findIndex((rank, index) => rank !== right[index]);
  return (left[place] ?? 0) < (right[place] ?? 0) ? -1 : 1;
}
