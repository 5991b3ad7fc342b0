// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// Random lives of subscriptions: whatever their state, the preview of a change of plan shows what its execution records.
import { Problem, shiftedBy } from '@counterfoil/kernel';
import { callRoute } from '@counterfoil/testkit';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { addonAssociationRoutes } from './addons/routes.ts';
import { subscription } from './subscription.ts';
import { anyBeginning, begun, later } from './test-any-beginning.ts';
import type { subscriptionWorld } from './test-subscription-world.ts';

const anyLife = fc.record({
  beginning: anyBeginning,
  /** Hours from the start of the year to a pause, and its length. */
  pause: fc.option(fc.tuple(fc.nat(900), fc.integer({ min: 1, max: 900 }))),
  hours: fc.nat(900),
  seconds: fc.nat(900),
  /** An add-on that it has, attached so many hours after its start. */
  addon: fc.option(fc.tuple(fc.constantFrom('recurring', 'onetime'), fc.nat(900))),
  isBound: fc.boolean(),
  change: fc.record({
    proration_behavior: fc.constantFrom('create_prorations', 'none'),
    billing_period: fc.constantFrom('MONTHLY', 'QUARTERLY', 'ANNUAL'),
    billing_cycle: fc.option(fc.constantFrom('anniversary', 'calendar')),
    change_at: fc.constantFrom('immediate', 'immediate', 'end_of_period'),
  }),
});

/** The answer of a request, or the code with which it is refused. */
export const answerOf = async <Answer>(work: Promise<Answer>): Promise<Answer | string> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
};

interface Settled {
  readonly settlement: { readonly lines: readonly object[] };
}

/** The figures of an answer, without the ids of lines that it made. */
export function figuresOf({ settlement }: Settled) {
  const { lines, ...sums } = settlement;
  return { ...sums, lines: lines.map((line) => ({ ...line, line_item_id: '' })) };
}

/** Holds the execution of a change of plan against its preview, on both sides. */
export const changeIsPreview = fc.asyncProperty(
  anyLife,
  async ({ beginning, pause, hours, seconds, addon, isBound, change }) => {
    const created = await begun(beginning);
    const { world, plan, pass, request, id, addonId: addon_id } = created;
    const target_plan_id = await plan('More', [
      { amount: '50' },
      { amount: '300', billing_period: 'QUARTERLY' },
      { amount: '1000', billing_period: 'ANNUAL' },
    ]);
    if (addon !== null) {
      await pass(later(world.now, addon[1]));
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
    await assertChangeIsPreview(created, id, asked, { isBound, seconds });
  },
);

/** Changes the plan as it is previewed, or, without a quote, as it is by then. Gives the subscription that follows. */
export async function assertChangeIsPreview(
  created: Awaited<ReturnType<typeof subscriptionWorld>>,
  id: string,
  asked: object,
  { isBound, seconds }: { readonly isBound: boolean; readonly seconds: number },
): Promise<string | null> {
  const { world, settled, previewChange, request } = created;
  const before = await settled(id);
  const seen = await answerOf(previewChange(id, asked));
  assert.equal(await settled(id), before);
  const quote = isBound && typeof seen !== 'string' ? { quote_id: seen.quote_id } : {};
  if (isBound) world.now = shiftedBy(world.now, seconds * 1_000);
  const done = await answerOf(created.change(id, { ...asked, ...quote }));
  if (typeof seen === 'string') {
    assert.is(done, seen);
    return null;
  }
  // Within the time of a quote a period may end: then it is refused, and nothing is settled by it.
  if (typeof done === 'string') {
    assert.ok(isBound, done);
    return null;
  }
  assert.equal(figuresOf(done), figuresOf(seen));
  assert.equal(done.carry_over.length, seen.carry_over.length);
  const next = done.new_subscription?.id;
  if (next === undefined) return null;
  const own = (await settled(id)).filter(({ reason }) => reason === 'plan_changed');
  const [opening, ...more] = (await settled(next)).filter(
    ({ reason }) => reason === 'plan_changed',
  );
  assert.equal(more, []);
  const lines = [...own.flatMap((each) => each.lines), ...(opening?.lines ?? [])];
  assert.equal(figuresOf({ settlement: { lines } }).lines, figuresOf(seen).lines);
  const after = await request().load(subscription, next);
  assert.is(after?.cycle.start, done.effective_date);
  return next;
}
