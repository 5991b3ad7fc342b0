import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { settingOf } from './queries.ts';
import { settingRoutes as routes } from './routes.ts';
import { setting } from './setting.ts';

const test = suite('settings');

/** An environment in which nothing is set, its routes and its log. */
function world() {
  const memory = memoryWorld([setting]);
  const request = () => memory.request(testPrincipal());
  return {
    request,
    get: () => callRoute(routes['GET /settings/invoice_config'], request()),
    set: (value: object) =>
      callRoute(routes['PUT /settings/invoice_config'], request(), { body: { value } }),
    reset: () => callRoute(routes['DELETE /settings/invoice_config'], request()),
    events: () => memory.store.log.map(({ type }) => type),
  };
}

test('until it is set a setting has its defaults', async () => {
  const { get, request } = world();
  const { value, is_default, updated_at } = await get();
  assert.equal(value, {
    prefix: 'INV',
    format: 'YYYYMM',
    separator: '-',
    suffix_length: 5,
    start_sequence: 1,
    timezone: 'UTC',
    due_date_days: 1,
    finalization_delay_seconds: 7200,
    prepaid_credits_cover_tax: false,
  });
  assert.equal([is_default, updated_at], [true, undefined]);
  assert.equal(await settingOf(request(), 'subscription_config'), {
    grace_period_days: 3,
    auto_cancellation_enabled: false,
    incomplete_expiry_days: 3,
    payment_retry_days: [1, 3, 5, 7],
  });
});

test('members that are left out stay, and the same again is no event', async () => {
  const { set, get, request, events } = world();
  await set({ prefix: 'ACME', due_date_days: 14 });
  await set({ separator: '' });
  await set({ separator: '', prefix: 'ACME' });
  await set({});
  assert.equal(events(), ['InvoiceConfigChanged', 'InvoiceConfigChanged']);
  const { value, is_default } = await get();
  assert.equal([value.prefix, value.separator, value.due_date_days], ['ACME', '', 14]);
  assert.is(is_default, false);
  assert.is((await settingOf(request(), 'invoice_config')).due_date_days, 14);
});

test('a reset gives all members their defaults again, once', async () => {
  const { set, reset, get, events } = world();
  await reset();
  await set({ suffix_length: 8 });
  await reset();
  await reset();
  assert.equal(events(), ['InvoiceConfigChanged', 'SettingReset']);
  const { value, is_default } = await get();
  assert.equal([value.suffix_length, is_default], [5, true]);
});

test('settings are changed by a super_admin alone', async () => {
  const memory = memoryWorld([setting]);
  const writer = memory.request({ ...testPrincipal(), roles: ['all_writer'] });
  const body = { value: { grace_period_days: 1 } };
  const changing = callRoute(routes['PUT /settings/subscription_config'], writer, { body });
  assert.is((await rejection(changing)).code, 'permission_denied');
  const resetting = callRoute(routes['DELETE /settings/subscription_config'], writer);
  assert.is((await rejection(resetting)).code, 'permission_denied');
  assert.equal(memory.store.log, []);
});

const faults: readonly [object, string][] = [
  [{ prefix: '' }, 'prefix'],
  [{ prefix: 'a b' }, 'prefix'],
  [{ prefix: 'x'.repeat(21) }, 'prefix'],
  [{ separator: '----' }, 'separator'],
  [{ format: 'MM' }, 'format'],
  [{ suffix_length: 0 }, 'suffix_length'],
  [{ start_sequence: 0 }, 'start_sequence'],
  [{ start_sequence: 1.5 }, 'start_sequence'],
  [{ timezone: 'Mars/Base' }, 'timezone'],
  [{ due_date_days: -1 }, 'due_date_days'],
  [{ due_date_days: 367 }, 'due_date_days'],
  [{ finalization_delay_seconds: 2_592_001 }, 'finalization_delay_seconds'],
  [{ prepaid_credits_cover_tax: 'yes' }, 'prepaid_credits_cover_tax'],
];

for (const [value, member] of faults) {
  test(`${JSON.stringify(value)} is refused, naming the member`, () => {
    const { error } = routes['PUT /settings/invoice_config'].body?.safeParse({ value }) ?? {};
    assert.equal(
      error?.issues.map(({ path }) => path),
      [['value', member]],
    );
  });
}

test.run();
