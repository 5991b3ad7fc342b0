import type {
  CustomerId,
  DecimalText,
  FeatureId,
  Instant,
  MeterId,
  UsageAlertId,
} from '@counterfoil/kernel';
import { folded, stampAt } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runningPeriod } from '../current/running-period.ts';
import { noteUsage } from './commands.ts';
import { type UsageAlertEvent, usageAlert } from './usage-alert.ts';

const test = suite('usage alert, whatever happens');

/** Happenings to a meter and its alert: usage (a correction is negative), a look, a look again, the end of a period. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('use' as const), count: fc.integer({ min: -60, max: 80 }) }),
  fc.record({ kind: fc.constant('look' as const), again: fc.boolean() }),
  fc.record({ kind: fc.constant('end' as const) }),
);

const thresholdsOf = (levels: readonly number[]) =>
  levels.map((level, index) => ({
    type: index % 2 === 0 ? ('absolute' as const) : ('percent' as const),
    value: `${level}` as DecimalText,
  }));

const days = (start: Instant) => runningPeriod('DAILY', start, 'UTC');
const first = days('2026-01-01T00:00:00.000Z' as Instant);

const created = (levels: readonly number[]): UsageAlertEvent => ({
  type: 'UsageAlertCreated',
  data: {
    id: 'alert_01' as UsageAlertId,
    customer_id: 'cust_01' as CustomerId,
    feature_id: 'feat_01' as FeatureId,
    meter_id: 'meter_01' as MeterId,
    event_name: 'tokens',
    reset_period: 'DAILY',
    period: first,
    // Of a limit of 100, percent are the usage itself.
    limit: { type: 'given', value: '100' as DecimalText },
    thresholds: thresholdsOf(levels),
  },
});

test('each threshold is crossed at the first look of a period that sees as much, and at no other', () => {
  const run = fc.property(
    fc.uniqueArray(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 5 }),
    fc.array(happening, { maxLength: 60 }),
    (levels, story) => {
      const history: UsageAlertEvent[] = [created(levels)];
      const expected: string[] = [];
      let used = 0;
      let period = first;
      let seen = new Set<number>();
      const look = (next: typeof first) => {
        const usage = `${used}` as DecimalText;
        const decide = noteUsage({ period, usage, position: '1', next });
        history.push(...decide(folded(usageAlert, history), stampAt(0).occurred_at));
        for (const level of levels.toSorted((one, other) => one - other)) {
          if (used >= level && !seen.has(level)) expected.push(`${period?.start} ${level}`);
          if (used >= level) seen.add(level);
        }
      };
      for (const happens of story) {
        switch (happens.kind) {
          case 'use':
            used += happens.count;
            break;
          case 'look':
            look(null);
            if (happens.again) look(null);
            break;
          case 'end': {
            const over = period;
            const next = over && days(over.end);
            look(next);
            // Who comes too late with the period that is over changes nothing.
            look(next);
            [period, used, seen] = [next, 0, new Set()];
            break;
          }
          default:
            happens satisfies never;
        }
      }
      const crossed = history.flatMap((event) =>
        event.type === 'UsageThresholdCrossed'
          ? [`${event.data.period?.start} ${event.data.level}`]
          : [],
      );
      assert.equal(crossed, expected);
    },
  );
  fc.assert(run, { numRuns: 500, endOnFailure: true, includeErrorInReport: true });
});

test.run();
