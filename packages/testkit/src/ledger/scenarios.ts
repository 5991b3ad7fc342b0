import fc from 'fast-check';
import type { AlertBody, AutoTopUpBody } from './commands.ts';

/**
 * A request to a wallet, before its time and ids are known: times count from the moment of sending,
 * holds and repeated requests are named by how many there have been since.
 */
export type Plan =
  | {
      readonly kind: 'top-up';
      readonly reason: string;
      readonly by: 'credits_to_add' | 'amount';
      readonly figure: string;
      readonly ahead: number | null;
      readonly priority: number | null;
      readonly bonus: string | null;
      readonly behind: number | null;
    }
  | {
      readonly kind: 'debit';
      readonly credits: string;
      readonly isPartial?: boolean;
      readonly description: string | null;
      readonly behind: number | null;
    }
  | { readonly kind: 'hold'; readonly credits: string; readonly ahead: number | null }
  | {
      readonly kind: 'capture';
      readonly back: number;
      readonly credits: string | null;
      readonly isLast: boolean;
    }
  | {
      readonly kind: 'change-hold';
      readonly back: number;
      readonly credits: string | null;
      readonly ahead: number | null;
    }
  | { readonly kind: 'void'; readonly back: number }
  | {
      readonly kind: 'reverse';
      readonly back: number;
      readonly credits: string | null;
      readonly ahead: number | null;
    }
  | { readonly kind: 'terminate' }
  | { readonly kind: 'settle' }
  | { readonly kind: 'freeze' | 'unfreeze' }
  | { readonly kind: 'alerts'; readonly levels: AlertBody | null }
  | { readonly kind: 'auto'; readonly settings: AutoTopUpBody | null }
  | { readonly kind: 'complete' | 'cancel'; readonly back: number }
  | { readonly kind: 'rename'; readonly name: string }
  | { readonly kind: 'priority'; readonly priority: number | null }
  /** Over all wallets of the customer. */
  | {
      readonly kind: 'debit-customer';
      readonly by: 'amount' | 'credits';
      readonly figure: string;
      readonly isPartial: boolean;
      readonly behind: number | null;
    }
  | {
      readonly kind: 'bulk';
      readonly atomic: boolean;
      readonly entries: readonly BulkPlan[];
    }
  /** The same request again, or another one with its key. */
  | { readonly kind: 'repeat'; readonly back: number; readonly isChanged: boolean }
  | { readonly kind: 'bad'; readonly which: number };

export type BulkPlan =
  | {
      readonly type: 'credit';
      readonly credits: string;
      readonly ahead: number | null;
      readonly priority: number | null;
      readonly behind: number | null;
    }
  | {
      readonly type: 'debit';
      readonly credits: string;
      readonly isPartial?: boolean;
      readonly behind: number | null;
    };

export interface Step {
  /** Units of time that go by before it. */
  readonly wait: number;
  readonly isKeyed: boolean;
  readonly plan: Plan;
  /** Number of the wallet that it is for, as far as there are so many; the first when absent. */
  readonly wallet?: number;
}

/** A wallet as it is made. */
export interface WalletTerms {
  readonly type: 'PRE_PAID' | 'POST_PAID';
  readonly rate: string;
  readonly topUpRate: string;
  readonly initial: string;
  readonly initialAhead: number | null;
  readonly levels: AlertBody | null;
  readonly auto: AutoTopUpBody | null;
  /** Its place among the wallets of its customer. */
  readonly priority?: number | null;
}

/** A wallet and the requests to it, and to others of the same customer. */
export interface Scenario extends WalletTerms {
  readonly others?: readonly WalletTerms[];
  /** Milliseconds of a unit of time, where nothing else says how long it is. */
  readonly unit: number;
  readonly steps: readonly Step[];
}

const second = 1_000;
const hour = 3_600 * second;

const figure = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('0.5', '2.25', '33.333333333', '0.000000001', '7.000000007'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('12345678901234567890123456789', '1000000000000.000000001'),
  },
);
const ahead = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 });
/** Units of time by which an entry is dated back. */
const behind = fc.option(fc.integer({ min: 0, max: 60 }), { freq: 2 });
const isPartial = fc.constantFrom(false, false, true);
const priority = fc.option(fc.integer({ min: -1, max: 2 }), { freq: 2 });
const maybe: fc.Arbitrary<string | null> = fc.option(figure, { freq: 2 });
const description: fc.Arbitrary<string | null> = fc.constantFrom(null, 'für Müller', '✓');
const back = fc.integer({ min: 0, max: 4 });
const reasons = fc.constantFrom(
  'FREE_CREDIT_GRANT',
  'PURCHASED_CREDIT_DIRECT',
  'SUBSCRIPTION_CREDIT_GRANT',
  'CREDIT_NOTE',
  'PURCHASED_CREDIT_INVOICED',
  'PURCHASED_CREDIT_INVOICED',
);

const autoTopUps: fc.Arbitrary<AutoTopUpBody | null> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        enabled: fc.constantFrom(true, true, true, false),
        amount: fc.constantFrom('5', '30', '0.000000001'),
        threshold: fc.constantFrom('0', '20', '1000'),
        invoicing: fc.constantFrom(true, false, false),
        daily_limit: fc.constantFrom(1, 2, 5),
      },
      { requiredKeys: ['enabled', 'amount', 'threshold'] },
    ),
  },
);

/** Levels in their full form, so that equal settings are written in one way only. */
const levels: fc.Arbitrary<AlertBody | null> = fc.oneof(
  fc.constant(null),
  fc
    .tuple(fc.integer({ min: -20, max: 30 }), fc.nat(20), fc.nat(20), fc.nat(2), fc.boolean())
    .map(([low, more, most, count, isBelow]): AlertBody => {
      const level = (above: number) => ({
        threshold: String(isBelow ? low + above : low - above),
        condition: isBelow ? ('below' as const) : ('above' as const),
      });
      return {
        alert_enabled: true,
        critical: level(0),
        ...(count > 0 ? { warning: level(more) } : {}),
        ...(count > 1 ? { info: level(more + most) } : {}),
      };
    }),
);

const bulkEntry: fc.Arbitrary<BulkPlan> = fc.oneof(
  fc.record({ type: fc.constant('credit' as const), credits: figure, ahead, priority, behind }),
  fc.record({ type: fc.constant('debit' as const), credits: figure, isPartial, behind }),
);

const weighted = (weight: number, arbitrary: fc.Arbitrary<Plan>) => ({ weight, arbitrary });

/** Anything that can be asked of a wallet that is to go on living. */
const plan: fc.Arbitrary<Plan> = fc.oneof(
  weighted(
    6,
    fc.record({
      kind: fc.constant('top-up' as const),
      reason: reasons,
      by: fc.constantFrom('credits_to_add' as const, 'credits_to_add' as const, 'amount' as const),
      figure,
      ahead,
      priority,
      bonus: maybe,
      behind,
    }),
  ),
  weighted(
    7,
    fc.record({
      kind: fc.constant('debit' as const),
      credits: figure,
      isPartial,
      description,
      behind,
    }),
  ),
  weighted(5, fc.record({ kind: fc.constant('hold' as const), credits: figure, ahead })),
  weighted(
    6,
    fc.record({
      kind: fc.constant('capture' as const),
      back,
      credits: maybe,
      isLast: fc.boolean(),
    }),
  ),
  weighted(
    4,
    fc.record({ kind: fc.constant('change-hold' as const), back, credits: maybe, ahead }),
  ),
  weighted(2, fc.record({ kind: fc.constant('void' as const), back })),
  weighted(4, fc.record({ kind: fc.constant('reverse' as const), back, credits: maybe, ahead })),
  weighted(1, fc.record({ kind: fc.constant('freeze' as const) })),
  weighted(3, fc.record({ kind: fc.constantFrom('unfreeze' as const, 'settle' as const) })),
  weighted(2, fc.record({ kind: fc.constant('alerts' as const), levels })),
  weighted(2, fc.record({ kind: fc.constant('auto' as const), settings: autoTopUps })),
  weighted(5, fc.record({ kind: fc.constantFrom('complete' as const, 'cancel' as const), back })),
  weighted(
    1,
    fc.record({ kind: fc.constant('rename' as const), name: fc.constantFrom('One', 'Two') }),
  ),
  weighted(1, fc.record({ kind: fc.constant('priority' as const), priority })),
  weighted(
    6,
    fc.record({
      kind: fc.constant('debit-customer' as const),
      by: fc.constantFrom('amount' as const, 'amount' as const, 'credits' as const),
      figure,
      isPartial,
      behind,
    }),
  ),
  weighted(
    3,
    fc.record({
      kind: fc.constant('bulk' as const),
      atomic: fc.boolean(),
      entries: fc.array(bulkEntry, { minLength: 1, maxLength: 4 }),
    }),
  ),
  weighted(4, fc.record({ kind: fc.constant('repeat' as const), back, isChanged: fc.boolean() })),
  weighted(1, fc.record({ kind: fc.constant('bad' as const), which: fc.nat(99) })),
);

const step = (what: fc.Arbitrary<Plan>): fc.Arbitrary<Step> =>
  fc.record({
    wait: fc.integer({ min: 0, max: 10 }),
    isKeyed: fc.boolean(),
    plan: what,
    wallet: fc.constantFrom(0, 0, 1, 2),
  });

const rates = fc.constantFrom('1', '0.5', '0.0333333333');

const terms = {
  type: fc.constantFrom('PRE_PAID' as const, 'PRE_PAID' as const, 'POST_PAID' as const),
  rate: rates,
  topUpRate: fc.constantFrom('1', '2', '3', '0.7', '0.0000000007', '30000000'),
  initial: fc.constantFrom('0', '100', '0.000000001'),
  initialAhead: ahead,
  levels: fc.option(levels, { freq: 2 }),
  auto: fc.option(autoTopUps, { freq: 2 }),
};

/** Other wallets of the customer; most have none. */
const others: fc.Arbitrary<readonly WalletTerms[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.record({
        ...terms,
        // Debits that no wallet can pay alone are the interesting ones.
        type: fc.constantFrom('PRE_PAID' as const, 'PRE_PAID' as const, 'POST_PAID' as const),
        rate: fc.oneof(fc.constant('1'), rates),
        initial: fc.constantFrom('10', '20.5', '0', '0.000000001'),
        priority,
      }),
      { minLength: 1, maxLength: 2 },
    ),
  },
);

/** Scripts of so many steps; one in four closes its wallet and goes on. */
export const scenarios = (minLength: number, maxLength: number): fc.Arbitrary<Scenario> =>
  fc.record({
    ...terms,
    others,
    unit: fc.constantFrom(second, hour, 7 * hour, 24 * hour, 50 * hour),
    steps: fc
      .tuple(
        fc.array(step(plan), { minLength, maxLength, size: 'max' }),
        fc.option(fc.array(step(plan), { minLength: 3, maxLength: 3 }), { freq: 3 }),
      )
      .map(([before, after]) =>
        after === null
          ? before
          : [
              ...before,
              { wait: 31, isKeyed: true, plan: { kind: 'terminate' as const } },
              ...after,
            ],
      ),
  });
