// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// Random lives of subscriptions: whatever their state, the preview of a change of plan shows what its execution records.
import { type Instant, Problem, shiftedBy } from '@counterfoil/kernel';
import { callRoute } from '@counterfoil/testkit';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { addonAssociationRoutes } from './addons/routes.ts';
import { subscription } from './subscription.ts';
import { soldAddon } from './test-sold-addon.ts';
import { day, subscriptionWorld } from './test-subscription-world.ts';

const anyLife = fc.record({
  billing_cycle: fc.constantFrom('anniversary', 'calendar'),
  proration_behavior: fc.constantFrom('create_prorations', 'none'),
  trial_period_days: fc.constantFrom(0, 0, 10),
  start: fc.integer({ min: -100, max: 10 }),
  /** Hours from the start of the year to a pause, and its length. */
  pause: fc.option(fc.tuple(fc.nat(900), fc.integer({ min: 1, max: 900 }))),
  hours: fc.nat(900),
  seconds: fc.nat(900),
  /** An add-on that it has, attached so many hours after its start. */
  addon: fc.option(fc.tuple(fc.constantFrom('recurring', 'onetime'), fc.nat(900))),
  /** Days until it ends. */
  ends: fc.option(fc.integer({ min: 10, max: 200 })),
  isBound: fc.boolean(),
  change: fc.record({
    proration_behavior: fc.constantFrom('create_prorations', 'none'),
    billing_period: fc.constantFrom('MONTHLY', 'QUARTERLY', 'ANNUAL'),
    billing_cycle: fc.option(fc.constantFrom('anniversary', 'calendar')),
    change_at: fc.constantFrom('immediate', 'immediate', 'end_of_period'),
  }),
});

const answerOf = async <Answer>(work: Promise<Answer>): Promise<Answer | string> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
};

/** The figures of a settlement, without the ids of lines that it made. */
function figuresOf({ lines, ...sums }: { readonly lines: readonly object[] }) {
  return { ...sums, lines: lines.map((line) => ({ ...line, line_item_id: '' })) };
}

/** The prices of an add-on: one in advance and one in arrears. */
const addonPrices = [{ amount: '62' }, { amount: '3', invoice_cadence: 'ARREAR' }];

const later = (at: Instant, hours: number): Instant => shiftedBy(at, hours * 3_600_000);

/** Holds the execution of a change of plan against its preview, on both sides. */
export const changeIsPreview = fc.asyncProperty(
  anyLife,
  async ({ start, pause, hours, seconds, addon, ends, isBound, change, ...terms }) => {
    const prices = [{ amount: '31' }, { amount: '7.77', invoice_cadence: 'ARREAR' }];
    const created = await subscriptionWorld([
      ...prices,
      { amount: '90', billing_period: 'QUARTERLY' },
    ]);
    const { world, plan, create, pass, settled, previewChange, request } = created;
    const target_plan_id = await plan('More', [
      { amount: '50' },
      { amount: '300', billing_period: 'QUARTERLY' },
      { amount: '1000', billing_period: 'ANNUAL' },
    ]);
    const start_date = shiftedBy(day(1, 1), start * 86_400_000);
    const end_date = ends === null ? null : later(start_date, ends * 24);
    const { id } = await create({ ...terms, start_date, end_date });
    if (addon !== null) {
      await pass(later(world.now, addon[1]));
      const addon_id = await soldAddon(created, addonPrices);
      const body = { subscription_id: id, addon_id, cadence: addon[0] };
      const attach = addonAssociationRoutes['POST /subscriptions/addon'];
      await answerOf(callRoute(attach, request('attach'), { body: body as never }));
    }
    if (pause !== null) {
      await pass(later(world.now, pause[0]));
      await answerOf(created.pause(id, { pause_end: later(world.now, pause[1]) }));
    }
    await pass(later(world.now, hours));
    const { billing_cycle, ...rest } = change;
    const asked = { target_plan_id, ...rest, ...(billing_cycle !== null && { billing_cycle }) };
    const before = await settled(id);
    const seen = await answerOf(previewChange(id, asked));
    assert.equal(await settled(id), before);
    const quote = isBound && typeof seen !== 'string' ? { quote_id: seen.quote_id } : {};
    if (isBound) world.now = shiftedBy(world.now, seconds * 1_000);
    const done = await answerOf(created.change(id, { ...asked, ...quote }));
    if (typeof seen === 'string') return assert.is(done, seen);
    // Within the time of a quote a period may end: then it is refused, and nothing is settled by it.
    if (typeof done === 'string') return assert.ok(isBound, done);
    assert.equal(figuresOf(done.settlement), figuresOf(seen.settlement));
    assert.equal(done.carry_over.length, seen.carry_over.length);
    const next = done.new_subscription?.id;
    if (next === undefined) return;
    const own = (await settled(id)).filter(({ reason }) => reason === 'plan_changed');
    const [opening, ...more] = (await settled(next)).filter(
      ({ reason }) => reason === 'plan_changed',
    );
    assert.equal(more, []);
    const lines = [...own.flatMap((each) => each.lines), ...(opening?.lines ?? [])];
    assert.equal(figuresOf({ lines }).lines, figuresOf(seen.settlement).lines);
    const after = await request().load(subscription, next);
    assert.is(after?.cycle.start, done.effective_date);
  },
);
