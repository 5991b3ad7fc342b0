// Random lives of subscriptions: whatever their state, a preview shows what its execution records.
import { Problem, shiftedBy } from '@counterfoil/kernel';
import { callRoute } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { modificationRoutes } from './routes.ts';

const test = suite('previews of modifications');

const anyAct = fc.record({
  kind: fc.constantFrom('quantity', 'add', 'remove', 'cancel', 'cancel later'),
  line: fc.nat(9),
  quantity: fc.integer({ min: 1, max: 9 }),
  amount: fc.integer({ min: 0, max: 9_999 }),
  proration_behavior: fc.constantFrom('create_prorations', 'none'),
  /** Hours since the act before. */
  hours: fc.nat(900),
  /** Seconds from the preview to its execution. */
  seconds: fc.nat(900),
  isBound: fc.boolean(),
});
type Act = typeof anyAct extends fc.Arbitrary<infer Value> ? Value : never;

const anyLife = fc.record({
  billing_cycle: fc.constantFrom('anniversary', 'calendar'),
  proration_behavior: fc.constantFrom('create_prorations', 'none'),
  trial_period_days: fc.constantFrom(0, 0, 10),
  start: fc.integer({ min: -100, max: 10 }),
  acts: fc.array(anyAct, { minLength: 1, maxLength: 6 }),
});

/** The request of an act, on one of the lines that there are. */
function requestOf(act: Act, lines: readonly { readonly id: string }[]): object {
  const id = lines[act.line % Math.max(lines.length, 1)]?.id ?? 'subs_line_none';
  const { proration_behavior } = act;
  switch (act.kind) {
    case 'quantity': {
      const quantity = String(act.quantity);
      return {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id, quantity }] },
      };
    }
    case 'add':
      return {
        type: 'add_line',
        add_line_params: {
          price: {
            type: 'FIXED',
            billing_model: 'FLAT_FEE',
            billing_period: act.quantity % 3 === 0 ? 'QUARTERLY' : 'MONTHLY',
            invoice_cadence: act.quantity % 2 === 0 ? 'ADVANCE' : 'ARREAR',
            price_unit_type: 'FIAT',
            amount: (act.amount / 100).toFixed(2),
          },
          proration_behavior,
        },
      };
    case 'remove':
      return { type: 'remove_line', remove_line_params: { id, proration_behavior } };
    default:
      return {
        type: 'cancel',
        cancel_params: {
          cancellation_type: act.kind === 'cancel' ? 'immediate' : 'end_of_period',
          proration_behavior,
        },
      };
  }
}

/** The figures of an answer, without the ids of lines that it made. */
function figuresOf({ settlement }: { readonly settlement: { readonly lines: readonly object[] } }) {
  const { lines, ...sums } = settlement;
  return { ...sums, lines: lines.map((line) => ({ ...line, line_item_id: '' })) };
}

/** The answer of a request, or the code with which it is refused. */
const answerOf = async <Answer>(work: Promise<Answer>): Promise<Answer | string> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
};

test('an execution records what its preview shows, and nothing where that is refused', async () => {
  await fc.assert(
    fc.asyncProperty(anyLife, async ({ acts, start, ...terms }) => {
      const prices = [{ amount: '31' }, { amount: '90', billing_period: 'QUARTERLY' }];
      const { world, request, create, get, pass, settled } = await subscriptionWorld(prices);
      const start_date = shiftedBy(day(1, 1), start * 86_400_000);
      const { id } = await create({ ...terms, start_date });
      for (const [place, act] of acts.entries()) {
        await pass(shiftedBy(world.now, act.hours * 3_600_000));
        const asked = requestOf(act, (await get(id)).line_items);
        const params = { id };
        const preview = modificationRoutes['POST /subscriptions/{id}/modify/preview'];
        const execute = modificationRoutes['POST /subscriptions/{id}/modify/execute'];
        const before = await settled(id);
        const seen = await answerOf(callRoute(preview, request(), { params, body: asked }));
        assert.equal(await settled(id), before);
        const quote = act.isBound && typeof seen !== 'string' ? { quote_id: seen.quote_id } : {};
        if (act.isBound) world.now = shiftedBy(world.now, act.seconds * 1_000);
        const done = await answerOf(
          callRoute(execute, request('do', `${place}`), { params, body: { ...asked, ...quote } }),
        );
        if (typeof seen === 'string') assert.is(done, seen);
        // Within the time of a quote a period may end: then it is refused, and nothing is settled by it.
        else if (typeof done === 'string') assert.ok(act.isBound, done);
        else assert.equal(figuresOf(done), figuresOf(seen));
      }
    }),
    { numRuns: 150 },
  );
});

test.run();
