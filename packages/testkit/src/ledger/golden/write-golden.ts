/**
 * Writes the files that the corpus lacks, and never another one: what was written once stays as it
 * is. It makes a record of every kind through the API, and keeps the shortest story of each event. Where GOLDEN_STORIES names a folder
 * it takes the stories from there instead, which tests have left (see `record-stories.ts`).
 *
 *     node packages/testkit/src/ledger/golden/write-golden.ts
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { takeCheckpoints } from '@counterfoil/cli/checkpoint';
import {
  belongsTo,
  createStreams,
  parseStreamName,
  type StoredEvent,
  systemContext,
} from '@counterfoil/engine';
import {
  type AnyAggregate,
  type DecimalText,
  type EnvironmentId,
  type FeatureId,
  invariant,
} from '@counterfoil/kernel';
import {
  type AlertingFeature,
  beginInstallation,
  couponRedemptions,
  installation,
  installationId,
  installationPlace,
  judgeOngoing,
  settleInvoices,
  settleRedemptions,
  spendingOf,
  wallet,
} from '@counterfoil/modules';

type AlertSettings = AlertingFeature['alert_settings'];

import { disableEndpoint, reportExhausted } from '../../../../webhooks/src/endpoint/decisions.ts';
import { webhookEndpoint } from '../../../../webhooks/src/endpoint/endpoint.ts';
import { type Stack, startStack, type TestTenant } from '../../stack.ts';
import { addressOf, exampleRequest } from '../../system/examples.ts';
import { readOperations } from '../../system/operations.ts';
import { Records } from '../../system/records.ts';
import { httpClient } from '../http-client.ts';
import { runScenario } from '../scenario-runner.ts';
import { fullScenario } from '../test-scenario.ts';
import { decidedStories } from './decided-stories.ts';
import { aggregates, corpusFolder, fileOf, type Golden, shownToday } from './golden.ts';
import { storiesFolder, storiesIn } from './stories.ts';

/** Asks for everything that the API documents, and tells the wallet's whole story. */
async function tellStories(stack: Stack): Promise<void> {
  const tenant = await stack.tenant('golden');
  const own = new Records(stack, tenant, 'golden');
  const operations = await readOperations(stack.baseUrl);
  for (const [key, operation] of operations) {
    const request = await exampleRequest(own, key);
    const { status } = await tenant.call(
      operation.method,
      addressOf(operation, request),
      request.body,
    );
    console.log(`${status} ${key}`);
  }
  const price = await own.make('price');
  await tenant.call('PUT', `/prices/${price}`, { description: 'per token' });
  await refuseDebit(tenant, own);
  const client = httpClient(tenant, stack.store);
  for (const type of ['PRE_PAID', 'POST_PAID'] as const) {
    const options = { name: `golden-${type}`, clients: 1, unit: 4, lead: 100 };
    await runScenario(client, fullScenario(type), options);
  }
  await lowerBalance(stack, tenant, own);
  await reportFailures(stack, tenant, own);
  await settle(stack, tenant, own);
  await begin(stack);
  await takeCheckpoints(stack.eventStoreUrl, stack.secretKey, () => undefined);
}

/** Asks for more than a customer has in all wallets. */
async function refuseDebit(tenant: TestTenant, own: Records): Promise<void> {
  const { customer_id } = await tenant.ok('GET', `/wallets/${await own.make('wallet')}`);
  const body = { currency: 'usd', amount: '1000' };
  await tenant.call('POST', `/customers/${customer_id}/debit`, body);
}

/** Judges a balance that usage has lowered, as a look at it does. */
async function lowerBalance(stack: Stack, tenant: TestTenant, own: Records): Promise<void> {
  const below = { threshold: '5', condition: 'below' } as const;
  const alert_settings = { alert_enabled: true, critical: below } as unknown as AlertSettings;
  const { id } = await tenant.ok('POST', '/wallets', {
    ...{ customer_id: await own.make('cust'), currency: 'chf', alert_settings },
    initial_credits_to_load: '10',
  });
  const streams = createStreams({ store: stack.store, aggregates });
  const context = systemContext(streams, { ...tenant, correlationId: 'golden' });
  const state = await context.load(wallet, id);
  invariant(state, 'the wallet was made');
  const feature_id = (await own.make('feat')) as FeatureId;
  const figure = (text: string) => text as DecimalText;
  const seen = {
    ...{ current_period_usage: figure('7'), unpaid_invoices_amount: figure('1') },
    ...{ held: figure('0'), spending: spendingOf(state), position: '1' },
    features: [{ feature_id, alert_settings }],
  };
  await context.execute(wallet, id, judgeOngoing(id, seen));
}

/** Reports failures of an endpoint as the worker does: no request can do that. */
async function reportFailures(stack: Stack, tenant: TestTenant, own: Records): Promise<void> {
  const id = await own.make('webhook');
  const streams = createStreams({ store: stack.store, aggregates });
  const context = systemContext(streams, { ...tenant, correlationId: 'golden' });
  const message = {
    message_id: 'msg_1',
    event_type: 'wallet.updated',
    resource_id: 'wallet_1',
    attempts: 8,
    status_code: 500,
    error: null,
  };
  await context.execute(webhookEndpoint, id, reportExhausted(id, '1', [message]));
  await context.execute(webhookEndpoint, id, disableEndpoint(id, 'failing'));
}

/** Settles a redemption as the reactions do: that comes minutes after it. */
async function settle(stack: Stack, tenant: TestTenant, own: Records): Promise<void> {
  const id = await own.make('coupon_assoc');
  const { coupon_id, subscription_id } = await tenant.ok('GET', `/coupons/associations/${id}`);
  const streams = createStreams({ store: stack.store, aggregates });
  const context = systemContext(streams, { ...tenant, correlationId: 'golden' });
  const settled = settleRedemptions([subscription_id], []);
  await context.execute(couponRedemptions, coupon_id, settled);
  const customer_id = await own.make('cust');
  const figures = { amount_due: '9', subtotal: '10', total: '9' };
  const { id: invoice } = await tenant.ok('POST', '/invoices', {
    ...{ customer_id, currency: 'usd', ...figures, coupons: [await own.make('coupon')] },
    line_items: [{ amount: '10', quantity: '1' }],
  });
  console.log(`redeemed for ${invoice}`);
  const { coupon_applications } = await tenant.ok('GET', `/invoices/${invoice}`);
  const redeemed = coupon_applications[0].coupon_id;
  await context.execute(couponRedemptions, redeemed, settleInvoices([invoice], []));
}

/** Begins the installation, as `counterfoil up` does before there are tenants. */
async function begin(stack: Stack): Promise<void> {
  const streams = createStreams({ store: stack.store, aggregates });
  const place = { tenantId: installationPlace, environmentId: 'env_golden' as EnvironmentId };
  const context = systemContext(streams, { ...place, correlationId: 'golden' });
  const begun = beginInstallation({ seed: 'golden', secret_id: 'golden' });
  await context.execute(installation, installationId, begun);
}

/** Events of each stream of a record, in their order. */
async function storiesOf(stack: Stack): Promise<readonly (readonly StoredEvent[])[]> {
  const streams = new Map<string, StoredEvent[]>();
  const prefixes = aggregates.map(({ name }) => `${name}-`);
  const upTo = await stack.store.head();
  for await (const event of stack.store.readLog({ prefixes, after: 0n, upTo })) {
    const known = streams.get(event.stream);
    if (known) known.push(event);
    else streams.set(event.stream, [event]);
  }
  return [...streams.values()];
}

function write(stories: readonly (readonly StoredEvent[])[]): void {
  for (const aggregate of aggregates) {
    for (const type of Object.keys(aggregate.events)) {
      const path = join(corpusFolder, fileOf(aggregate, type));
      if (existsSync(path)) continue;
      const golden = shortest(stories, aggregate, type);
      if (!golden) {
        console.log(`nothing makes ${aggregate.name} ${type}`);
        continue;
      }
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${JSON.stringify(golden, null, 2)}\n`);
    }
  }
}

/** The shortest story that ends with an event of a type, and that tables show. */
function shortest(
  stories: readonly (readonly StoredEvent[])[],
  aggregate: AnyAggregate,
  type: string,
): Golden | null {
  const found = stories.flatMap((events) => {
    const id = events[0] && parseStreamName(events[0].stream);
    if (id?.category !== aggregate.name) return [];
    const own = events.filter((event) => belongsTo(aggregate, event));
    const end = own.findIndex((event) => event.type === type) + 1;
    return end === 0 ? [] : [{ id: id.id, events: own.slice(0, end) }];
  });
  for (const { id, events } of found.toSorted((a, b) => a.events.length - b.events.length)) {
    const kept = events.map(({ id: each, type: of, data, metadata }) => {
      return { id: each, type: of, data, metadata };
    });
    try {
      return { id, events: kept, shows: shownToday(aggregate, { id, events: kept }) };
    } catch (error) {
      // Some tests tell stories that no table could show.
      console.log(`not of use: ${aggregate.name} ${type}: ${(error as Error).message}`);
    }
  }
  return null;
}

async function tellToStack(): Promise<void> {
  const stack = await startStack();
  try {
    await tellStories(stack);
    write(await storiesOf(stack));
  } finally {
    await stack.stop();
  }
}

write(await decidedStories());
const folder = storiesFolder();
if (folder === null) await tellToStack();
else write(storiesIn(folder));
