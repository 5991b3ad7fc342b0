import type { MeterId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coupon } from '../coupons/index.ts';
import { feature } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { meter, meterRecords } from '../meters/index.ts';
import { offer } from '../offers/index.ts';
import { priceUnit } from '../pricing-units/index.ts';
import { taxRate } from '../taxes/index.ts';
import { catalogTransfer } from './index.ts';
import { catalogTransferRoutes as routes } from './routes.ts';
import { catalogue } from './test-catalogue.ts';

const test = suite('disabled meters in catalogue documents');

const aggregates = [
  ...[group, meter, priceUnit, feature, coupon, taxRate, offer],
  ...catalogTransfer.aggregates,
];

/** Environments, of which the first has a catalogue. */
async function world() {
  const { request } = memoryWorld(aggregates);
  const context = (environment: string) => request(testPrincipal(environment));
  const importing = (body: object, environment: string) =>
    callRoute(routes['POST /catalog/import'], context(environment), { body });
  const exported = (environment: string) =>
    callRoute(routes['GET /catalog/export'], context(environment));
  /** Disables a meter of an environment, by the name of its events. */
  const disable = async (eventName: string, environment: string) => {
    const { items } = await context(environment).read.list(meterRecords.table, {
      limit: 50,
      offset: 0,
    });
    const found = items.find(({ event_name }) => event_name === eventName);
    if (!found) throw new Error(`no meter counts ${eventName}`);
    const id = found.id as MeterId;
    await context(environment).execute(meter, id, meterRecords.archive(id));
  };
  await importing({ document: catalogue }, 'env_01');
  return { importing, exported, disable };
}

const actionsOf = ({ changes }: { changes: readonly { action: string; key: string }[] }) =>
  changes.map(({ action, key }) => `${key} ${action}`);

test('one that features and prices use is exported as such, and imported so', async () => {
  const { importing, exported, disable } = await world();
  await disable('embedding', 'env_01');
  const document = await exported('env_01');
  assert.equal(
    document.meters?.map(({ event_name, disabled }) => [event_name, disabled]),
    [
      ['completion', undefined],
      ['embedding', true],
    ],
  );
  const { changes, refused } = await importing({ document }, 'env_02');
  assert.equal(refused, []);
  assert.equal(
    changes.filter(({ key }) => key === 'Tokens #2').map(({ action }) => action),
    ['created', 'archived'],
  );
  assert.equal(await exported('env_02'), document);
  assert.equal((await importing({ document, prune: true }, 'env_02')).changes, []);
});

test('the meters that are left keep their names when one before them is disabled', async () => {
  const { exported, disable } = await world();
  await disable('completion', 'env_01');
  const { meters, features } = await exported('env_01');
  assert.equal(
    meters?.map(({ event_name }) => event_name),
    ['embedding', 'completion'],
  );
  const [large, embeddings] = ['Large model', 'Embeddings'].map((name) =>
    features?.find((each) => each.name === name),
  );
  assert.equal([large?.meter, embeddings?.meter], ['Tokens #2', 'Tokens']);
});

test('one that is published elsewhere is disabled there by the import', async () => {
  const { importing, exported, disable } = await world();
  await importing({ document: catalogue }, 'env_02');
  await disable('embedding', 'env_01');
  const document = await exported('env_01');
  assert.equal(actionsOf(await importing({ document }, 'env_02')), ['Tokens #2 archived']);
  assert.equal(await exported('env_02'), document);
});

test('one that nothing uses is not exported', async () => {
  const { importing, exported, disable } = await world();
  const meters = [
    { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } },
    { name: 'Seats', event_name: 'seat', aggregation: { type: 'COUNT' }, disabled: true },
  ];
  const { changes } = await importing({ document: { version: 1, meters } }, 'env_02');
  assert.equal(
    changes.map(({ action, key }) => `${key} ${action}`),
    ['Calls created', 'Seats created', 'Seats archived'],
  );
  await disable('call', 'env_02');
  assert.equal((await exported('env_02')).meters, []);
});

test('none comes back by an import, and only meters are disabled', async () => {
  const { importing, disable } = await world();
  await disable('embedding', 'env_01');
  const again = await rejection(importing({ document: catalogue }, 'env_01'));
  assert.equal(again.errors, [
    {
      pointer: '/document/meters/1',
      message: 'is the name of one that is disabled for good: give this one another name',
    },
  ]);
  const [first] = catalogue.groups;
  const groups = [{ ...first, disabled: true }];
  const meters = [{ name: 'A', event_name: 'a', aggregation: { type: 'COUNT' }, disabled: 1 }];
  const wrong = await rejection(importing({ document: { version: 1, groups, meters } }, 'env_02'));
  assert.equal(
    wrong.errors?.map(({ pointer }) => pointer),
    ['/document/meters/0/disabled', '/document/groups/0/disabled'],
  );
});

test.run();
