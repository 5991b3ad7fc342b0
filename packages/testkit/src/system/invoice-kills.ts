import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '@counterfoil/cli/verify';
import { type EventStore, openEventStore, type Position } from '@counterfoil/engine';
import { freePort } from '@counterfoil/local';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type FinalizingStep, type Standing, StepFeed, standingAt } from './finalizing-steps.ts';
import { untilAccepted } from './insist.ts';
import { type Installation, type ProcessName, startInstallation } from './installation.ts';
import { openings } from './openings.ts';
import { endEverything, untilRuns } from './usage-kills.ts';

const start = '2027-01-01T00:00:00.000Z';
/** Each of a customer with a wallet of its own. */
const subscriptions = 40;
const feeCents = 3_000;
const walletCents = 10_000_000;
const patience = 240_000;

/** The instant of a month, counted from 0, at which the invoices of the period before are to be final. */
const finalAt = (month: number): string => new Date(Date.UTC(2027, month, 1, 2)).toISOString();

/** A process that is killed, and the step to which some invoice has just come then. */
export interface Kill {
  readonly victim: ProcessName;
  readonly at: FinalizingStep;
}

/**
 * Makes the invoices of many subscriptions final with credits, month after month, on a real installation whose processes are
 * killed while it does so. Whatever was under way: each opening and each period has one invoice with one number, without gaps, and one debit.
 *
 * @param kills one after the other
 * @returns where the invoices stood at each kill
 */
export async function finalizeUnderKills(kills: readonly Kill[]): Promise<readonly Standing[]> {
  const opened = openings();
  try {
    const folder = opened.add(
      mkdtempSync(join(tmpdir(), 'counterfoil-invoice-kills-')),
      async (path) => rmSync(path, { recursive: true, force: true }),
    );
    const settings = { LOG_LEVEL: 'error', RATE_LIMIT_PER_SECOND: '1000000' };
    const installation = await startInstallation({ folder, port: await freePort(), settings });
    opened.add(null, () => endEverything(installation));
    const store = opened.add(openEventStore({ url: installation.eventStoreUrl }), (opening) =>
      opening.close(),
    );
    const steps = opened.add(new StepFeed(store), (feed) => feed.end());
    const billing = await Billing.begin(installation);
    await billing.sell();
    const left = [...kills];
    const killedAt: Position[] = [];
    let month = 0;
    while (left.length > 0) {
      month += 1;
      await billing.advance(finalAt(month));
      killedAt.push(...(await killUntilDone(installation, store, steps, billing, left)));
    }
    await billing.assertOneOfEach(month);
    const lines: string[] = [];
    assert.ok(await verify(installation, (line) => lines.push(line)), lines.join('\n'));
    return await standingAt(store, killedAt);
  } finally {
    await opened.closeAll();
  }
}

/**
 * Kills one process after the other while the clock is under way, each as soon as some invoice comes to the step of its kill. Returns
 * the ends of the log at the kills.
 */
async function killUntilDone(
  installation: Installation,
  store: Pick<EventStore, 'head'>,
  steps: StepFeed,
  billing: Billing,
  left: Kill[],
): Promise<readonly Position[]> {
  const killedAt: Position[] = [];
  for (let [kill] = left; kill !== undefined; [kill] = left) {
    const { victim } = kill;
    await untilRuns(installation, victim);
    if (!(await comes(steps, kill.at, billing))) break;
    const pid = await untilRuns(installation, victim);
    process.kill(pid, 'SIGKILL');
    left.shift();
    // Without a projector nothing is written any more; where the store itself is away, its end is that with which it comes back.
    killedAt.push(await eventually(() => store.head().catch(() => false as const)));
    await untilRuns(installation, victim, pid);
  }
  await eventually(
    () => billing.stands(),
    () => 'the clock never stood',
    patience,
  );
  return killedAt;
}

/** Waits until an invoice comes to a step. False where the clock stands before one does. */
async function comes(steps: StepFeed, step: FinalizingStep, billing: Billing): Promise<boolean> {
  let hasCome = false;
  const next = steps.next(step).then(() => {
    hasCome = true;
  });
  const standing = eventually(async () => hasCome || (await billing.stands()), undefined, patience);
  await Promise.race([next, standing]);
  return hasCome;
}

type Shown = Readonly<Record<string, string>>;

/** A tenant of an installation that may be away at any time, in an environment with a test clock. */
class Billing {
  readonly #api: ReturnType<typeof caller>;
  readonly #clock: string;

  private constructor(api: ReturnType<typeof caller>, clock: string) {
    this.#api = api;
    this.#clock = clock;
  }

  static async begin(installation: Installation): Promise<Billing> {
    const admin = caller(installation.baseUrl, installation.apiKey);
    const environment = await admin.ok('POST', '/environments', {
      ...{ name: 'Test', type: 'development' },
    });
    const secret = await admin.ok('POST', '/secrets/api/keys', {
      ...{ name: 'test', environment_id: environment.id, type: 'private_key' },
    });
    const api = caller(installation.baseUrl, secret.api_key);
    const clock = `/environments/${environment.id}/clock`;
    await untilAccepted(() => api.call('PUT', clock, { now: start }), clock);
    return new Billing(api, clock);
  }

  async #post(path: string, body: object): Promise<Shown> {
    return (await untilAccepted(() => this.#api.call('POST', path, body), path)).body;
  }

  async #get(path: string): Promise<Shown & { readonly items: readonly Shown[] }> {
    return (await untilAccepted(() => this.#api.call('GET', path), path)).body;
  }

  /** A fee in advance that prepaid credits may pay, and calls in arrears. */
  async sell(): Promise<void> {
    const { id: meter_id } = await this.#post('/meters', {
      ...{ name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } },
    });
    const { id: plan_id } = await this.#post('/plans', { name: 'Monthly' });
    const price = {
      ...{ entity_type: 'PLAN', entity_id: plan_id, currency: 'usd', billing_period: 'MONTHLY' },
      ...{ billing_model: 'FLAT_FEE', start_date: start },
    };
    const fee = { type: 'FIXED', invoice_cadence: 'ADVANCE', amount: String(feeCents / 100) };
    await this.#post('/prices', { ...price, ...fee });
    const perCall = { type: 'USAGE', invoice_cadence: 'ARREAR', amount: '0.01', meter_id };
    await this.#post('/prices', { ...price, ...perCall });
    for (let number = 0; number < subscriptions; number += 1) {
      const external_customer_id = `customer-${number}`;
      await this.#post('/customers', { external_id: external_customer_id, name: 'Ada' });
      const { id } = await this.#post('/wallets', {
        ...{ external_customer_id, currency: 'usd' },
        initial_credits_to_load: String(walletCents / 100),
      });
      const config = { allowed_price_types: ['ALL'] };
      await untilAccepted(() => this.#api.call('PUT', `/wallets/${id}`, { config }), 'a wallet');
      const terms = { plan_id, currency: 'usd', billing_period: 'MONTHLY' };
      await this.#post('/subscriptions', { external_customer_id, ...terms });
    }
  }

  /** Asks for an advance, and does not wait for it. */
  async advance(to: string): Promise<void> {
    await this.#post(`${this.#clock}/advance`, { to });
  }

  async stands(): Promise<boolean> {
    const answer = await this.#api.call('GET', this.#clock).catch(() => null);
    return answer?.status === 200 && answer.body.state === 'standing';
  }

  async #all(path: string): Promise<readonly Shown[]> {
    const found: Shown[] = [];
    for (;;) {
      const { items } = await this.#get(`${path}limit=1000&offset=${found.length}`);
      found.push(...items);
      if (items.length < 1_000) return found;
    }
  }

  /** Holds everything against what so many months must have made. */
  async assertOneOfEach(months: number): Promise<void> {
    const wanted = subscriptions * (months + 1);
    const invoices = await eventually(
      async () => {
        const all = await this.#all('/invoices?');
        const isFinal = all.every(({ invoice_status }) => invoice_status === 'FINALIZED');
        return all.length === wanted && isFinal && all;
      },
      () => `there never were ${wanted} final invoices`,
      patience,
    );
    const periods = invoices.map(
      (each) => `${each.subscription_id} ${each.period_end} ${each.billing_reason}`,
    );
    assert.is(new Set(periods).size, wanted);
    for (const { total_prepaid_credits_applied: credits, total } of invoices) {
      assert.equal([credits, total], [String(feeCents / 100), '0']);
    }
    const numbers = invoices.flatMap(({ invoice_number }) => invoice_number ?? []).toSorted();
    for (const [prefix, own] of Map.groupBy(numbers, (number) =>
      number.slice(0, 'INV-202701'.length),
    )) {
      const all = own.map((_, index) => `${prefix}-${String(index + 1).padStart(5, '0')}`);
      assert.equal(own, all);
    }
    await this.#assertDebits(invoices);
  }

  async #assertDebits(invoices: readonly Shown[]): Promise<void> {
    const left = String((walletCents - (feeCents * invoices.length) / subscriptions) / 100);
    const wallets = await eventually(
      async () => {
        const all = await this.#all('/wallets?');
        return all.every(({ credit_balance }) => credit_balance === left) && all;
      },
      () => `the wallets never had ${left} left`,
      patience,
    );
    const paid: (string | undefined)[] = [];
    for (const { id } of wallets) {
      const entries = await this.#all(`/wallets/${id}/transactions?type=debit&`);
      paid.push(...entries.map(({ reference_id }) => reference_id));
    }
    assert.equal(paid.toSorted(), invoices.map(({ id }) => id).toSorted());
  }
}
