// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import fc from 'fast-check';
import { day } from '../test-invoice-world.ts';
import { thresholdWorld, type UsagePrice, usageOf, usagePrices } from './test-threshold-world.ts';

const step = fc.record({
  /** The day of January on which it is looked at, in steps from the one before. */
  days: fc.integer({ min: 0, max: 6 }),
  /** Calls, and the day that they are stamped with, counted back from that day. */
  calls: fc.integer({ min: 0, max: 260 }),
  back: fc.integer({ min: 0, max: 9 }),
  looks: fc.boolean(),
});

/**
 * Two subscriptions of one customer to one plan, one of them invoiced by amount: whatever is used and whenever it is looked at, both are charged the same for
 * usage, to the last unit, with what comes late.
 */
export const chargesTheSame = (numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(usagePrices) as UsagePrice[])),
      fc.constantFrom(0, 90),
      fc.constantFrom('0.5', '4', '9'),
      fc.array(step, { minLength: 2, maxLength: 8 }),
      fc.integer({ min: 0, max: 300 }),
      async (price, free, auto_invoice_threshold, steps, late) => {
        const { plan, create, use, look, at, of } = await thresholdWorld();
        const plan_id = await plan(price, free);
        const { id: inParts } = await create({ plan_id, auto_invoice_threshold });
        const { id: whole } = await create({ plan_id });
        let date = 1;
        for (const { days, calls, back, looks } of steps) {
          date = Math.min(31, date + days);
          use(calls, day(1, Math.max(1, date - back)));
          await at(day(1, date, 12));
          if (looks) await look(inParts);
        }
        await at(day(2, 1, 3));
        const isSame = async () => usageOf(await of(inParts)) === usageOf(await of(whole));
        if (!(await isSame())) return false;
        use(late, day(1, 9));
        await at(day(3, 1, 3));
        return isSame();
      },
    ),
    { numRuns },
  );
