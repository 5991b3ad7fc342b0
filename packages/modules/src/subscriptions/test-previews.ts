// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// Random lives of subscriptions: whatever their state, a preview shows what its execution records.
import { type Instant, shiftedBy } from '@counterfoil/kernel';
import { callRoute } from '@counterfoil/testkit';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { offersWith } from '../offers/index.ts';
import { modificationRoutes } from './modify/routes.ts';
import { ofSubscriptions } from './of-subscriptions.ts';
import { phaseRoutes } from './phases/routes.ts';
import { anyBeginning, begun, later } from './test-any-beginning.ts';
import { answerOf, assertChangeIsPreview, figuresOf } from './test-change-previews.ts';
import type { subscriptionWorld } from './test-subscription-world.ts';

/** Acts that have no preview: they lead to other states. */
const besideKinds = ['next phase', 'next phase', 'drop phase', 'grant', 'end grant'] as const;
const changeKinds = ['change', 'change later'] as const;

const anyAct = fc.record({
  kind: fc.constantFrom(
    ...besideKinds,
    ...changeKinds,
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
    'disinherit',
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

const isBeside = ({ kind }: Act): boolean => (besideKinds as readonly string[]).includes(kind);
const isChange = ({ kind }: Act): boolean => (changeKinds as readonly string[]).includes(kind);

const anyLife = fc.record({
  beginning: anyBeginning,
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
    case 'disinherit': {
      const external_customer_ids_to_remove = [act.line % 2 === 0 ? 'ben' : 'cal'];
      return { type: 'inheritance', inheritance_params: { external_customer_ids_to_remove } };
    }
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

/** Holds the execution of random acts against their previews: what the one shows, the other records. */
export const executionIsPreview = fc.asyncProperty(anyLife, async ({ beginning, acts }) => {
  const opened = await begun(beginning);
  const target = await opened.plan('More', [
    { amount: '50' },
    { amount: '1000', billing_period: 'ANNUAL' },
  ]);
  let { id } = opened;
  for (const [place, act] of acts.entries()) {
    await opened.pass(later(opened.world.now, act.hours));
    if (isBeside(act)) await actBeside(opened, id, act);
    else if (isChange(act)) id = await changed(opened, id, act, target);
    else await assertActIsPreview(opened, id, act, place);
  }
});

type Opened = Awaited<ReturnType<typeof begun>>;

/** Executes an act as it is previewed, or, without a quote, as it is by then. */
async function assertActIsPreview(
  opened: Opened,
  id: string,
  act: Act,
  place: number,
): Promise<void> {
  const { world, get, settled, addonId } = opened;
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

/** Changes the plan as it is previewed. Gives the subscription that there is afterwards. */
async function changed(opened: Opened, id: string, act: Act, target: string): Promise<string> {
  const { proration_behavior, isBound, seconds, kind, line } = act;
  const change = {
    ...{ target_plan_id: target, proration_behavior },
    billing_period: line > 6 ? 'ANNUAL' : 'MONTHLY',
    change_at: kind === 'change' ? 'immediate' : 'end_of_period',
  };
  return (await assertChangeIsPreview(opened, id, change, { isBound, seconds })) ?? id;
}

/** Does something that has no preview. Refused, nothing. */
async function actBeside({ request, world, get }: Opened, id: string, act: Act): Promise<void> {
  const granting = offersWith(ofSubscriptions).routes ?? {};
  const call = (table: Readonly<Record<string, unknown>>, route: string, input: object) =>
    answerOf(callRoute(table[route] as never, request(route), input as never));
  switch (act.kind) {
    case 'next phase': {
      const body = { start_date: later(world.now, act.amount % 900) };
      await call(phaseRoutes, 'POST /subscriptions/{id}/phases', { params: { id }, body });
      return;
    }
    case 'drop phase': {
      const { phases } = await get(id);
      const phase = phases[act.line % Math.max(phases.length, 1)]?.id ?? 'phase_none';
      await call(phaseRoutes, 'DELETE /subscriptions/phases/{id}', { params: { id: phase } });
      return;
    }
    case 'grant': {
      const terms = { cadence: 'RECURRING', period: 'WEEKLY', credits: '7' };
      const body = { name: 'Gift', scope: 'SUBSCRIPTION', subscription_id: id, ...terms };
      await call(granting, 'POST /creditgrants', { body });
      return;
    }
    default: {
      const query = { subscription_ids: [id], limit: 100 };
      const found = await call(granting, 'GET /creditgrants', { query });
      const { items = [] } = found as { items?: readonly { readonly id: string }[] };
      const grant = items[act.line % Math.max(items.length, 1)]?.id ?? 'cg_none';
      await call(granting, 'DELETE /creditgrants/{id}', { params: { id: grant }, body: {} });
    }
  }
}

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
