import type { DecimalText, PauseId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { GrantData } from '../grants/grant.ts';
import { at } from '../settlement/test-lines.ts';
import { foldAll } from '../subscription.ts';
import { lived, orderOf } from '../test-order.ts';
import { firstCredits } from './first-credits.ts';

const test = suite('first credits of an add-on');

const january = { start_date: at('2026-01-01') };
const prorated = { cadence: 'recurring', proration: 'create_prorations' } as const;

/** A grant of so many credits for each period of a subscription, of an add-on that is attached at an instant. */
const grantOf = (credits: string, attached: string, period: 'MONTHLY' | 'WEEKLY'): GrantData =>
  ({
    ...{ id: 'cg_01', source_id: 'cg_00', name: 'Bonus', metadata: {}, addon_association_id: null },
    ...{ period, period_count: 1, expiration_type: 'NEVER', part: null, end_date: null },
    ...{ expiration_duration: null, expiration_duration_unit: null, priority: null },
    ...{ conversion_rate: null, topup_conversion_rate: null },
    credits: credits as DecimalText,
    start_date: at(attached),
  }) as GrantData;

for (const [credits, period, attached, first] of [
  ['100', 'MONTHLY', '2026-01-20', '38.70967742'],
  ['1', 'MONTHLY', '2026-01-31T23:59:30Z', '0.0000112'],
  ['100', 'MONTHLY', '2026-01-16T12:00:00Z', '50'],
  ['100', 'WEEKLY', '2026-01-02', '85.71428571'],
] as const) {
  test(`E 11.5, 19 of ${credits} ${period} from ${attached} on the first are ${first}`, () => {
    const rhythm = { unit: period, count: 1 };
    const subscription = lived(orderOf({ ...january, rhythm }), at(attached));
    const { start_date, part } = firstCredits(
      subscription,
      grantOf(credits, attached, period),
      prorated,
    );
    assert.is(part?.credits, first);
    assert.equal([start_date, part?.anchor], [at(attached), subscription.opened?.end]);
  });
}

test('E 19 at the end of the period, and so shortly before it that nothing is left, the first come with the next one', () => {
  const end = at('2026-02-01');
  for (const [credits, attached] of [
    ['100', '2026-02-01'],
    ['0.00000001', '2026-01-31T12:00:00Z'],
  ] as const) {
    const subscription = lived(orderOf(january), at('2026-01-31T12:00:00Z'));
    const grant = grantOf(credits, attached, 'MONTHLY');
    assert.equal(firstCredits(subscription, grant, prorated), { start_date: end, part: null });
  }
});

test('D67 time in a pause is no part of what is left: 100 for April, paused from the 11th to the 16th, are 66.66666667', () => {
  const april = orderOf({ start_date: at('2026-04-01') });
  const subscription = lived(april, at('2026-04-11'));
  const pause = {
    id: 'pause_01' as PauseId,
    pause_mode: 'immediate',
    resume_mode: 'auto',
    start: at('2026-04-11'),
    end: at('2026-04-16'),
    ...{ bills_usage: false, original_period: null, reason: null, metadata: {} },
  } as const;
  const paused = foldAll(subscription, [{ type: 'PauseStarted', data: pause }]);
  const resumed = lived(paused, at('2026-04-16'));
  assert.is(resumed.opened?.end, at('2026-05-06'));
  const { part } = firstCredits(resumed, grantOf('100', '2026-04-16', 'MONTHLY'), prorated);
  assert.is(part?.credits, '66.66666667');
});

test.run();
