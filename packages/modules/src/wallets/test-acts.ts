import type { DecimalText } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { shownCredits } from '@counterfoil/testkit/ledger';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import fc from 'fast-check';
import type { AutoTopup } from './settings.ts';

/**
 * Something that is done to a wallet. Times are seconds ahead, or behind for what is dated back; records are
 * indexes of those that are open.
 */
export type Entry =
  | {
      readonly kind: 'load';
      readonly credits: DecimalText;
      readonly priority: number | null;
      readonly ahead: number | null;
      readonly behind: number | null;
      readonly purchased: boolean;
    }
  | { readonly kind: 'debit'; readonly credits: DecimalText; readonly behind: number | null };
export type Act =
  | Entry
  | {
      readonly kind: 'hold' | 'order';
      readonly credits: DecimalText;
      readonly ahead: number | null;
    }
  | {
      readonly kind: 'capture';
      readonly which: number;
      readonly credits: DecimalText | null;
      readonly isLast: boolean;
    }
  | {
      readonly kind: 'change-hold';
      readonly which: number;
      readonly credits: DecimalText | null;
      readonly ahead: number | null;
    }
  | { readonly kind: 'void' | 'complete' | 'cancel'; readonly which: number }
  | {
      readonly kind: 'reverse';
      readonly back: number;
      readonly credits: DecimalText | null;
      readonly ahead: number | null;
    }
  | { readonly kind: 'alerts'; readonly alarm: DecimalText | null }
  | { readonly kind: 'automatic'; readonly settings: Automatic | null }
  | { readonly kind: 'bulk'; readonly atomic: boolean; readonly entries: readonly Entry[] }
  | { readonly kind: 'settle' | 'freeze' | 'unfreeze' | 'terminate' };

type Automatic = Omit<AutoTopup, 'daily_limit'> & { readonly daily_limit: number };

const text = (units: bigint): DecimalText => shownCredits(units) as DecimalText;
const amount = fc
  .oneof(
    fc.bigInt({ min: 1n, max: 60n }).map((credits) => credits * 10n ** 9n),
    fc.bigInt({ min: 1n, max: 10n ** 11n }),
  )
  .map(text);
const ahead = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 });
const behind = fc.option(fc.integer({ min: 0, max: 90 }), { freq: 2 });
const which = fc.nat(3);
const load = fc.record({
  kind: fc.constant('load' as const),
  credits: amount,
  priority: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 2 }),
  ahead,
  behind,
  purchased: fc.boolean(),
});
const debit = fc.record({ kind: fc.constant('debit' as const), credits: amount, behind });
const held = fc.record({ kind: fc.constant('hold' as const), credits: amount, ahead });
const captured = fc.record({
  kind: fc.constant('capture' as const),
  which,
  credits: fc.option(amount, { freq: 2 }),
  isLast: fc.boolean(),
});
const changed = fc.record({
  kind: fc.constant('change-hold' as const),
  which,
  credits: fc.option(amount, { freq: 2 }),
  ahead,
});
const reversed = fc.record({
  kind: fc.constant('reverse' as const),
  back: fc.nat(3),
  credits: fc.option(amount, { freq: 2 }),
  ahead,
});
const ordered = fc.record({ kind: fc.constant('order' as const), credits: amount, ahead });
const ended = fc.record({ kind: fc.constantFrom('complete', 'complete', 'cancel'), which });
const automatic = fc.record({
  kind: fc.constant('automatic' as const),
  settings: fc.option(
    fc.record({
      enabled: fc.constant(true),
      threshold: amount,
      amount,
      invoicing: fc.boolean(),
      daily_limit: fc.integer({ min: 1, max: 3 }),
    }),
  ),
});
const alerts = fc.record({
  kind: fc.constant('alerts' as const),
  alarm: fc.option(fc.bigInt({ min: -50n, max: 50n }).map((credits) => text(credits * 10n ** 9n))),
});
const bulk = fc.record({
  kind: fc.constant('bulk' as const),
  atomic: fc.boolean(),
  entries: fc.array(fc.oneof(load, debit), { minLength: 1, maxLength: 4 }),
});
/** Anything that can be done to a wallet. */
export const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: load },
  { weight: 5, arbitrary: debit },
  { weight: 5, arbitrary: held },
  { weight: 4, arbitrary: captured },
  { weight: 4, arbitrary: changed },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('void' as const), which }) },
  { weight: 4, arbitrary: reversed },
  { weight: 3, arbitrary: ordered },
  { weight: 4, arbitrary: ended },
  { weight: 2, arbitrary: automatic },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('freeze', 'unfreeze') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unfreeze' as const) }) },
  { weight: 2, arbitrary: alerts },
  { weight: 2, arbitrary: bulk },
);
