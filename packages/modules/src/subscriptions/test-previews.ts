// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// Random lives of subscriptions: whatever their state, a preview shows what its execution records.
import { type Instant, Problem, shiftedBy } from '@counterfoil/kernel';
import { callRoute } from '@counterfoil/testkit';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { customers } from '../customers/index.ts';
import { modificationRoutes } from './modify/routes.ts';
import { soldAddon } from './test-sold-addon.ts';
import { day, subscriptionWorld } from './test-subscription-world.ts';

const anyAct = fc.record({
  kind: fc.constantFrom(
    'quantity',
    'add',
    'reprice',
    'phase',
    'remove',
    'attach',
    'attach once',
    'detach',
    'cancel',
    'cancel later',
    'pause',
    'pause on',
    'resume',
    'resume',
    'trial end',
    'inherit',
  ),
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
  trial_period_days: fc.constantFrom(0, 0, 10, 60),
  start: fc.integer({ min: -100, max: 10 }),
  /** Days until it ends. */
  ends: fc.option(fc.integer({ min: 10, max: 200 })),
  acts: fc.array(anyAct, { minLength: 1, maxLength: 6 }),
});

type Shown = { readonly id: string; readonly addon_association_id?: string | undefined };

/** Everything that the request of an act can name. */
interface Known {
  readonly lines: readonly Shown[];
  readonly addonId: string;
  readonly now: Instant;
}

/** The request of an act, on one of the lines that there are. */
function requestOf(act: Act, { lines, addonId, now }: Known): object {
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
    case 'reprice': {
      const amount = (act.amount / 100).toFixed(2);
      return { type: 'update_line', update_line_params: { id, amount, proration_behavior } };
    }
    case 'phase':
      return {
        type: 'add_phase',
        add_phase_params: { start_date: later(now, act.amount % 900), end_date: null },
      };
    case 'pause':
      return {
        type: 'pause',
        pause_params: {
          ...{ pause_mode: 'immediate', bill_usage: false },
          pause_days: act.quantity > 4 ? null : act.quantity,
        },
      };
    case 'pause on':
      return {
        type: 'pause',
        pause_params: {
          ...{ pause_mode: 'scheduled', bill_usage: true },
          pause_start: later(now, act.amount % 900),
          pause_end: act.quantity > 4 ? later(now, 900 + act.amount) : null,
        },
      };
    case 'resume':
      return act.quantity > 4
        ? { resume_mode: 'immediate' }
        : { resume_mode: 'scheduled', resume_at: later(now, act.amount % 900) };
    case 'trial end': {
      const new_trial_end = later(now, act.amount % 900);
      const to = { action: 'scheduled_date', new_trial_end };
      return {
        type: 'trial_end',
        trial_end_params: act.quantity > 4 ? { action: 'immediate' } : to,
      };
    }
    case 'inherit':
      return {
        type: 'inheritance',
        inheritance_params: { external_customer_ids_to_inherit_subscription: ['ben'] },
      };
    case 'remove':
      return { type: 'remove_line', remove_line_params: { id, proration_behavior } };
    case 'attach':
    case 'attach once': {
      const cadence = act.kind === 'attach' ? 'recurring' : 'onetime';
      const terms = { addon_id: addonId, cadence, proration_behavior };
      return { type: 'add_addon', add_addon_params: terms };
    }
    case 'detach': {
      const with_one = lines.filter((line) => line.addon_association_id);
      const association = with_one[act.line % Math.max(with_one.length, 1)]?.addon_association_id;
      const addon_association_id = association ?? 'addon_assoc_none';
      return {
        type: 'remove_addon',
        remove_addon_params: { addon_association_id, proration_behavior },
      };
    }
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

/** The prices of an add-on: one in advance and one for a quarter. */
const addonPrices = [{ amount: '62' }, { amount: '30', billing_period: 'QUARTERLY' }];

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

const later = (at: Instant, hours: number): Instant => shiftedBy(at, hours * 3_600_000);

/** Holds the execution of random acts against their previews: what the one shows, the other records. */
export const executionIsPreview = fc.asyncProperty(
  anyLife,
  async ({ acts, start, ends, ...terms }) => {
    const prices = [{ amount: '31' }, { amount: '90', billing_period: 'QUARTERLY' }];
    const opened = await subscriptionWorld(prices);
    const { world, create, get, pass, settled, call } = opened;
    const addonId = await soldAddon(opened, addonPrices);
    await call(customers.routes, 'POST /customers', { name: 'Ben', external_id: 'ben' });
    const start_date = later(day(1, 1), start * 24);
    const end_date = ends === null ? null : later(start_date, ends * 24);
    const { id } = await create({ ...terms, start_date, end_date });
    for (const [place, act] of acts.entries()) {
      await pass(later(world.now, act.hours));
      const lines = (await get(id)).line_items;
      const asked = requestOf(act, { lines, addonId, now: world.now });
      const { preview, execute } = waysOf(opened, act.kind, id, String(place));
      const before = await settled(id);
      const seen = await answerOf(preview(asked));
      assert.equal(await settled(id), before);
      const isBound = act.isBound && typeof seen !== 'string' && 'quote_id' in seen;
      const quote = isBound ? { quote_id: seen.quote_id } : {};
      if (isBound) world.now = shiftedBy(world.now, act.seconds * 1_000);
      const done = await answerOf(execute({ ...asked, ...quote }));
      if (typeof seen === 'string') assert.is(done, seen);
      // Within the time of a quote a period may end: then it is refused, and nothing is settled by it.
      else if (typeof done === 'string') assert.ok(isBound, done);
      else assert.equal(figuresOf(done), figuresOf(seen));
    }
  },
);

type Answer = Parameters<typeof figuresOf>[0];

/** The preview of an act and its execution. The end of a pause has a dry run in the place of a preview. */
function waysOf(
  { request, resume }: Awaited<ReturnType<typeof subscriptionWorld>>,
  kind: Act['kind'],
  id: string,
  key: string,
): Record<'preview' | 'execute', (body: object) => Promise<Answer>> {
  if (kind === 'resume') {
    return {
      preview: (body) => resume(id, { ...body, dry_run: true }),
      execute: (body) => resume(id, body),
    };
  }
  const routes = modificationRoutes;
  const params = { id };
  return {
    preview: (body) =>
      callRoute(routes['POST /subscriptions/{id}/modify/preview'], request(), {
        ...{ params, body: body as never },
      }),
    execute: (body) =>
      callRoute(routes['POST /subscriptions/{id}/modify/execute'], request('do', key), {
        ...{ params, body: body as never },
      }),
  };
}
