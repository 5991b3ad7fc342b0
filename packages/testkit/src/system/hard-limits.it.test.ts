import { verify } from '@counterfoil/cli/verify';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { startStack } from '../stack.ts';
import { type ApiProcess, startApiProcess } from './api-processes.ts';
import { untilAccepted } from './insist.ts';
import { openings } from './openings.ts';
import { untilShown } from './usage-kills.ts';

const test = suite('a hard limit under many who check and record in one call');

const clients = 64;
const limit = 1_000;
/** Use that came as plain usage, before anybody asks. */
const plain = 50;
const wanted = 1_200;
/** Acknowledged uses after which a process is killed. */
const killAfter = 300;

test('is used up to the last unit and never passed, while a process is killed and usage comes beside', async () => {
  const opened = openings();
  try {
    const stack = opened.add(await startStack(), (one) => one.stop());
    const tenant = await stack.tenant('limits');
    const { featureId, meterId } = await sellLimit(tenant);
    const before = await send(tenant, '/events', usageOf('plain', plain));
    await untilShown(tenant, positionOf(before));
    // Only processes that can be killed are to be members.
    await stack.parts.api.stop();
    const processes = await Promise.all([1, 2].map(() => startApiProcess(stack, opened)));
    const load = new Load(processes, tenant.apiKey, featureId);
    const beside = load.usageBeside();
    await load.run();
    await beside.stop();

    const allowed = [...load.answers].filter(([, { body }]) => body.allowed);
    assert.is(allowed.length, limit - plain, 'exactly what was left of the limit was let through');
    const used = allowed.map(([, { body }]) => Number(body.used)).sort((a, b) => a - b);
    assert.equal([used[0], used.at(-1)], [plain + 1, limit]);
    await load.assertRepeated(allowed);

    await stack.parts.api.start();
    const last = allowed.reduce((most, [, answer]) => max(most, positionOf(answer)), 0n);
    await untilShown(tenant, last);
    const span = { start_time: '2020-01-01T00:00:00.000Z', end_time: '2100-01-01T00:00:00.000Z' };
    const counted = await tenant.ok('POST', '/events/usage/meter', { meter_id: meterId, ...span });
    assert.is(counted.total_value, String(limit));
    const events = { event_name: 'limited', aggregation_type: 'COUNT', ...span };
    const { total_value } = await tenant.ok('POST', '/events/usage', events);
    assert.is(total_value, String(limit - plain + 1), 'each use is one event');
    await untilShown(tenant, beside.last());
    const others = { event_name: 'beside', aggregation_type: 'COUNT', ...span };
    assert.is((await tenant.ok('POST', '/events/usage', others)).total_value, beside.sent());
    const lines: string[] = [];
    assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
  } finally {
    await opened.closeAll();
  }
});

/** Uses that a family is granted, and those that each of it asks for. */
const familyLimit = 20;
const wantedByEach = 12;

test('of a subscription that others inherit is used up by all of them together', async () => {
  const opened = openings();
  try {
    const stack = opened.add(await startStack(), (one) => one.stop());
    const tenant = await stack.tenant('family');
    const { featureId, subscriptionId } = await sellLimit(tenant, familyLimit);
    for (const external_id of ['ben', 'cleo']) {
      await tenant.ok('POST', '/customers', { external_id, name: external_id });
    }
    const use = (external_customer_id: string, number: number) =>
      untilAccepted(
        () =>
          tenant.call('POST', '/entitlements/check', {
            ...{ external_customer_id, feature_id: featureId },
            ...{ record: true, event_id: `${external_customer_id}-${number}` },
          }),
        external_customer_id,
      );
    // What the owner used before anybody shared the limit counts, whether or not it is counted yet.
    assert.is((await use('ada', 0)).body.used, '1');
    await tenant.ok('POST', `/subscriptions/${subscriptionId}/modify/execute`, {
      type: 'inheritance',
      inheritance_params: { external_customer_ids_to_inherit_subscription: ['ben', 'cleo'] },
    });
    for (const external_customer_id of ['ben', 'cleo']) {
      const question = { external_customer_id, feature_id: featureId };
      await eventually(
        async () => (await tenant.ok('POST', '/entitlements/check', question)).limit === '20',
      );
    }
    const asked = ['ada', 'ben', 'cleo'].flatMap((name) =>
      Array.from({ length: wantedByEach }, (_, index) => [name, index + 1] as const),
    );
    const answers = await Promise.all(asked.map(([name, number]) => use(name, number)));
    const allowed = answers.filter(({ body }) => body.allowed);
    assert.is(allowed.length, familyLimit - 1);
    const used = allowed.map(({ body }) => Number(body.used)).sort((a, b) => a - b);
    assert.equal([used[0], used.at(-1)], [2, familyLimit]);
  } finally {
    await opened.closeAll();
  }
});

/** A customer with a plan that grants a feature within a limit. */
async function sellLimit(tenant: Caller, usage_limit = limit) {
  const meter = { name: 'Limited', event_name: 'limited' };
  const aggregation = { type: 'SUM', field: 'count' };
  const body = { name: 'Limited', type: 'metered', meter: { ...meter, aggregation } };
  const feature = await tenant.ok('POST', '/features', body);
  const plan = await tenant.ok('POST', '/plans', { name: 'Pro' });
  await tenant.ok('POST', '/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan.id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '10' },
  });
  await tenant.ok('POST', '/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' },
    ...{ usage_limit, is_soft_limit: false, usage_reset_period: 'ANNUAL' },
  });
  const customer = await tenant.ok('POST', '/customers', { external_id: 'ada', name: 'Ada' });
  const subscription = await tenant.ok('POST', '/subscriptions', {
    ...{ customer_id: customer.id, plan_id: plan.id, currency: 'usd' },
    billing_period: 'MONTHLY',
  });
  return {
    featureId: feature.id as string,
    meterId: feature.meter_id as string,
    subscriptionId: subscription.id as string,
  };
}

const usageOf = (event_id: string, count: number, event_name = 'limited') => ({
  ...{ event_name, external_customer_id: 'ada', event_id },
  properties: { count },
});

const send = (api: Caller, path: string, body: unknown): Promise<Answer> =>
  untilAccepted(() => api.call('POST', path, body), path);

const positionOf = ({ headers }: Answer): bigint =>
  BigInt(headers.get('counterfoil-position') ?? 0);

const max = (left: bigint, right: bigint): bigint => (left > right ? left : right);

/** Clients who ask any of the processes for a use each, until it is answered. */
class Load {
  readonly answers = new Map<string, Answer>();
  readonly #processes: readonly ApiProcess[];
  readonly #callers: readonly Caller[];
  readonly #featureId: string;
  #asked = 0;
  #killed: Promise<void> | null = null;

  constructor(processes: readonly ApiProcess[], apiKey: string, featureId: string) {
    this.#processes = processes;
    this.#callers = processes.map(({ baseUrl }) => caller(baseUrl, apiKey));
    this.#featureId = featureId;
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#client()));
    await this.#killed;
    assert.ok(this.#killed, 'nobody was killed');
  }

  async #client(): Promise<void> {
    while (this.#asked < wanted) {
      const number = this.#asked;
      this.#asked += 1;
      const id = `use-${number}`;
      this.answers.set(id, await this.#use(id, number));
      if (this.answers.size >= killAfter)
        this.#killed ??= this.#processes[0]?.killAndRestart() ?? null;
    }
  }

  /** Whoever gets no answer asks the other process, with the same id. */
  #use(event_id: string, first: number): Promise<Answer> {
    let turn = first;
    const body = {
      ...{ external_customer_id: 'ada', feature_id: this.#featureId },
      ...{ record: true, event_id },
    };
    return untilAccepted(() => {
      turn += 1;
      return this.#at(turn).call('POST', '/entitlements/check', body);
    }, event_id);
  }

  #at(turn: number): Caller {
    const one = this.#callers[turn % this.#callers.length];
    assert.ok(one);
    return one;
  }

  /** Everybody who was let through is told the same again, by either process. */
  async assertRepeated(allowed: readonly (readonly [string, Answer])[]): Promise<void> {
    const waiting = allowed.entries();
    const repeat = async (): Promise<void> => {
      for (const [number, [id, first]] of waiting) {
        assert.is((await this.#use(id, number)).text, first.text, id);
      }
    };
    await Promise.all(Array.from({ length: 8 }, repeat));
  }

  /** Plain usage of another name, which goes on until it is stopped. */
  usageBeside() {
    let sent = 0;
    let last = 0n;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        const events = Array.from({ length: 50 }, (_, index) =>
          usageOf(`beside-${sent + index}`, 1, 'beside'),
        );
        const answer = await untilAccepted(
          () => this.#at(sent / 50).call('POST', '/events/bulk', { events }),
          'usage beside',
        );
        sent += events.length;
        last = max(last, positionOf(answer));
      }
    })();
    sending.catch(() => undefined);
    return {
      stop: async (): Promise<void> => {
        isOver = true;
        await sending;
      },
      sent: () => String(sent),
      last: () => last,
    };
  }
}

test.run();
