import type { RequestContext } from '@counterfoil/engine/define';
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { walletWorld } from '../test-wallet-world.ts';
import { holdRoutes } from './routes.ts';

const test = suite('hold routes');

/** A wallet with 100 credits and ways to hold some of them. */
async function walletWith100() {
  const world = await walletWorld();
  const { id, request } = world;
  const params = (hold_id: string) => ({ params: { id, hold_id } });
  return {
    ...world,
    hold: (body: object, key?: string) =>
      callRoute(holdRoutes['POST /wallets/{id}/holds'], request(`POST /wallets/${id}/holds`, key), {
        params: { id },
        body,
      }),
    read: (hold: string) =>
      callRoute(holdRoutes['GET /wallets/{id}/holds/{hold_id}'], request(), params(hold)),
    change: (hold: string, body: object) =>
      callRoute(holdRoutes['PUT /wallets/{id}/holds/{hold_id}'], request(), {
        ...params(hold),
        body,
      }),
    end: (hold: string, context = request()) =>
      callRoute(holdRoutes['POST /wallets/{id}/holds/{hold_id}/void'], context, params(hold)),
    capture: (hold: string, context = request()) =>
      callRoute(holdRoutes['POST /wallets/{id}/holds/{hold_id}/capture'], context, params(hold)),
    /** A request for which the read model has nothing yet. */
    unread: (operation?: string, key?: string): RequestContext =>
      Object.assign(request(operation, key), { read: { find: () => Promise.resolve(null) } }),
  };
}

test('a repeated hold is answered as the first, also when its time is over by then', async () => {
  const { hold, pass, later } = await walletWith100();
  const body = { credits: '10', expires_at: later(60) };
  const first = await hold(body, 'key');
  pass(120);
  assert.equal(await hold(body, 'key'), first);
  assert.is((await rejection(hold(body, 'other'))).code, 'validation_error');
});

test('a voided hold is shown as voided, whatever else expires in the same request', async () => {
  const { hold, end, pass, later } = await walletWith100();
  await hold({ credits: '10', expires_at: later(60) });
  const { id } = await hold({ credits: '20' });
  pass(120);
  const voided = await end(id);
  assert.is(voided.id, id);
  assert.is(voided.hold_status, 'voided');
  assert.is(voided.credits, '20');
});

test('a voided hold is shown with what it held when it was voided, also when it was changed at the same moment', async () => {
  const { hold, change, end } = await walletWith100();
  const { id } = await hold({ credits: '20' });
  // The request that voids it has looked at the hold before the change is decided.
  const [changed, voided] = await Promise.all([change(id, { credits: '5' }), end(id)]);
  assert.equal([changed.credits, changed.hold_status], ['5', 'open']);
  assert.equal([voided.credits, voided.hold_status], ['5', 'voided']);
});

test('holds whose time is over do not stop a wallet from being terminated', async () => {
  const { hold, terminate, pass, later } = await walletWith100();
  await hold({ credits: '10', expires_at: later(60) });
  assert.is((await rejection(terminate())).code, 'invalid_operation');
  pass(120);
  assert.is((await terminate()).wallet_status, 'closed');
});

test('a hold whose time is over does not lower what can be spent, booked or not', async () => {
  const { hold, spendable, wallet, pass, later } = await walletWith100();
  await hold({ credits: '10', expires_at: later(60) });
  assert.is(await spendable(), '90');
  pass(120);
  assert.is(await spendable(), '100');
  assert.is((await wallet()).credits_held, '10', 'it is not booked yet');
});

test('a hold of no wallet is not found', async () => {
  const { end, capture } = await walletWith100();
  assert.is((await rejection(end('hold_none'))).code, 'not_found');
  assert.is((await rejection(capture('hold_none'))).code, 'not_found');
});

test('an id that nobody knows is not looked for in what the read model shows', async () => {
  const { hold, end, capture, debit, request, wallet } = await walletWith100();
  await debit('1');
  const shown = await wallet();
  const { id } = await hold({ credits: '10' });
  await end(id);
  const from: number[] = [];
  // The read model shows the wallet as it was before the hold: its creation, load and debit.
  const behind = (): RequestContext => {
    const context = request();
    const history: RequestContext['history'] = (aggregate, wanted, options = {}) => {
      from.push(options.from ?? 0);
      return request().history(aggregate, wanted, options);
    };
    const find = async (table: { readonly name: string }) =>
      table.name === 'wallets' ? { resource: shown, revision: 2 } : null;
    return Object.assign(context, { history, read: { find } });
  };
  assert.is((await rejection(end('hold_none', behind()))).code, 'not_found');
  assert.is((await rejection(capture('hold_none', behind()))).code, 'not_found');
  assert.is((await rejection(capture(id, behind()))).code, 'invalid_operation');
  assert.equal(from, [3, 3, 3]);
});

test('a void is answered from the log, and so is its repetition', async () => {
  const { hold, end, read, unread } = await walletWith100();
  const details = { description: 'for later', metadata: { order: '7' } };
  const { id } = await hold({ credits: '10', ...details });
  const voided = await end(id, unread('void', 'key'));
  assert.equal(await read(id), voided);
  assert.is(voided.description, 'for later');
  assert.equal(await end(id, unread('void', 'key')), voided);
});

test('a hold that has ended is known by the log: 400, although no read shows it', async () => {
  const { hold, end, capture, unread } = await walletWith100();
  const { id } = await hold({ credits: '10' });
  await capture(id);
  assert.is((await rejection(end(id, unread()))).code, 'invalid_operation');
  assert.is((await rejection(capture(id, unread()))).code, 'invalid_operation');
  assert.is((await rejection(capture('hold_none', unread()))).code, 'not_found');
});

test.run();
