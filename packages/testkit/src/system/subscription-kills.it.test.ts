import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { untilAccepted } from './insist.ts';
import { startInstallation } from './installation.ts';
import { openings } from './openings.ts';
import { endEverything, untilRuns } from './usage-kills.ts';

const test = suite('subscriptions while the projector is killed');

const start = '2027-01-01T00:00:00.000Z';

/** The instants at which something falls due, behind each of which the projector is killed. */
const stops = [
  '2027-01-11T00:00:00.000Z',
  '2027-01-21T00:00:00.000Z',
  '2027-02-11T00:00:00.000Z',
  '2027-04-01T00:00:00.000Z',
];

test('each step of time and each reaction to it happens once, whenever the projector dies', async () => {
  const opened = openings();
  try {
    const folder = opened.add(
      mkdtempSync(join(tmpdir(), 'counterfoil-subscription-kills-')),
      async (path) => rmSync(path, { recursive: true, force: true }),
    );
    const settings = { LOG_LEVEL: 'error', RATE_LIMIT_PER_SECOND: '1000000' };
    const installation = await startInstallation({ folder, port: await freePort(), settings });
    opened.add(null, () => endEverything(installation));
    const admin = caller(installation.baseUrl, installation.apiKey);
    const environment = await admin.ok('POST', '/environments', {
      ...{ name: 'Test', type: 'development' },
    });
    const secret = await admin.ok('POST', '/secrets/api/keys', {
      ...{ name: 'test', environment_id: environment.id, type: 'private_key' },
    });
    const api = caller(installation.baseUrl, secret.api_key);
    const clock = `/environments/${environment.id}/clock`;
    const post = async (path: string, body: object) =>
      (await untilAccepted(() => api.call('POST', path, body), path)).body;
    const get = async (path: string) =>
      (await untilAccepted(() => api.call('GET', path), path)).body;
    await untilAccepted(() => api.call('PUT', clock, { now: start }), clock);

    const planOf = async (amount: string): Promise<string> => {
      const plan = await post('/plans', { name: `Plan of ${amount}` });
      await post('/prices', {
        ...{ entity_type: 'PLAN', entity_id: plan.id, currency: 'usd', type: 'FIXED', amount },
        ...{ billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' },
        ...{ price_unit_type: 'FIAT', start_date: start },
      });
      return plan.id;
    };
    const [one, other] = [await planOf('31'), await planOf('62')];
    await post('/creditgrants', {
      ...{ name: 'Monthly', scope: 'PLAN', plan_id: one, credits: '5' },
      ...{ cadence: 'RECURRING', period: 'MONTHLY' },
    });
    await post('/customers', { external_id: 'acme', name: 'Acme' });
    const subscribe = (body: object = {}) =>
      post('/subscriptions', {
        ...{ external_customer_id: 'acme', plan_id: one, currency: 'usd' },
        ...{ billing_period: 'MONTHLY', proration_behavior: 'create_prorations', ...body },
      });
    const trial = await subscribe({ trial_period_days: 10 });
    const paused = await subscribe();
    const changed = await subscribe();
    const ended = await subscribe();
    await post(`/subscriptions/${paused.id}/pause`, {
      ...{ pause_mode: 'scheduled', pause_start: stops[0], pause_end: stops[1] },
    });
    await post(`/subscriptions/${changed.id}/change/execute`, {
      ...{ target_plan_id: other, change_at: 'end_of_period' },
    });
    await post(`/subscriptions/${ended.id}/cancel`, {
      ...{ cancellation_type: 'scheduled_date', cancel_at: stops[1] },
    });

    for (const to of stops) {
      await eventually(async () => (await get(clock)).state === 'standing');
      await post(`${clock}/advance`, { to });
      const pid = await untilRuns(installation, 'projector');
      process.kill(pid, 'SIGKILL');
      await untilRuns(installation, 'projector', pid);
      await eventually(
        async () => {
          const { state, now } = await get(clock);
          return state === 'standing' && now === to;
        },
        () => `the clock never came to ${to}`,
        240_000,
      );
    }

    const charges = async (id: string): Promise<string[]> =>
      (await get(`/subscriptions/${id}/settlements?limit=100`)).items
        .map(({ at, net_amount }: Record<string, string>) => `${at?.slice(0, 10)} ${net_amount}`)
        .reverse();
    assert.equal(await charges(trial.id), ['2027-01-11 31', '2027-02-11 31', '2027-03-11 31']);
    assert.equal(await charges(paused.id), ['2027-01-01 31', '2027-02-11 31', '2027-03-11 31']);
    assert.equal(await charges(ended.id), ['2027-01-01 31', '2027-01-21 -11']);
    assert.equal(await charges(changed.id), ['2027-01-01 31']);
    const all = await eventually(async () => {
      const { items } = await get('/subscriptions?limit=100&status=published');
      const following = items.filter(({ plan_id }: { plan_id: string }) => plan_id === other);
      return following.length > 0 && following;
    });
    assert.is(all.length, 1);
    assert.equal(await charges(all[0].id), ['2027-02-01 62', '2027-03-01 62', '2027-04-01 62']);
    // Grants of the trial from its end on, of the paused one all four, of the others one each.
    const credits = String((3 + 4 + 1 + 1) * 5);
    const balances = async () =>
      (await get('/wallets?limit=100')).items.map(
        ({ credit_balance }: { credit_balance: string }) => credit_balance,
      );
    await eventually(
      async () => (await balances()).join() === credits,
      () => `the wallets never had ${credits}`,
    );
    // One invoice for each cause, with numbers without gaps; what was not used and never paid lowers the one that it is owed on.
    const invoices = (await get('/invoices?limit=100')).items as Record<string, string>[];
    const ofEnded = invoices.filter(({ subscription_id: of }) => of === ended.id);
    assert.equal(
      ofEnded.map(({ total, amount_remaining }) => [total, amount_remaining]),
      [['31', '20']],
    );
    const numbers = invoices.flatMap(({ invoice_number }) => invoice_number ?? []).toSorted();
    const ofMonths = Map.groupBy(numbers, (number) => number.slice(0, 'INV-202701'.length));
    for (const [month, own] of ofMonths) {
      assert.equal(
        own,
        own.map((_, index) => `${month}-${String(index + 1).padStart(5, '0')}`),
      );
    }
  } finally {
    await opened.closeAll();
  }
});

test.run();
