import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { describeSummary, type Profile, packageOf, summarise } from './summary.ts';

const test = suite('summary of a profile');

const root = '/checkout/';

const packages: readonly (readonly [string, string])[] = [
  ['node:internal/streams/writable', 'node:streams'],
  ['node:_http_outgoing', 'node:_http_outgoing'],
  ['file:///checkout/packages/engine/src/http/steps.ts', 'engine/http'],
  ['file:///checkout/packages/modules/src/wallets/ledger/draw.ts', 'modules/wallets'],
  ['file:///checkout/packages/kernel/src/id.ts', 'kernel'],
  ['file:///checkout/apps/api/src/index.ts', 'api'],
  ['file:///checkout/infra/bench/src/load/client.ts', 'bench/load'],
  ['file:///checkout/node_modules/express/lib/router.js', 'express'],
  ['file:///checkout/node_modules/a/node_modules/@scope/b/index.js', '@scope/b'],
  ['/checkout/node_modules/pg/lib/client.js', 'pg'],
];

for (const [url, expected] of packages) {
  test(`${url} belongs to ${expected}`, () => assert.is(packageOf(url, root), expected));
}

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 });
const wallets = 'file:///checkout/packages/modules/src/wallets/draw.ts';

/** draw calls itself, and both call JSON.stringify. */
const profile: Profile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 4] },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('(garbage collector)') },
    { id: 4, callFrame: frame('draw', wallets), children: [5, 6] },
    { id: 5, callFrame: frame('draw', wallets), children: [7] },
    { id: 6, callFrame: frame('stringify') },
    { id: 7, callFrame: frame('stringify') },
  ],
  samples: [2, 3, 4, 5, 6, 7, 2],
  timeDeltas: [5, 100, 10, 20, 30, 40, 50],
};

test('time counts for packages, and that of machine code for the package that called it', () => {
  const { busy, packages: shares } = summarise(profile, root);
  assert.is(busy, 150);
  assert.equal(shares, [
    { name: 'modules/wallets', self: 140 },
    { name: '(garbage collector)', self: 10 },
  ]);
});

test('the total of a function has what it calls, and a call of itself once', () => {
  const { functions } = summarise(profile, root);
  assert.equal(
    functions.find(({ name }) => name.startsWith('draw')),
    { name: 'draw in modules/wallets, draw.ts:10', self: 50, total: 140 },
  );
  assert.equal(
    functions.find(({ name }) => name.startsWith('stringify')),
    { name: 'stringify [machine code] in modules/wallets', self: 90, total: 90 },
  );
});

test('a person reads shares, and microseconds per entry', () => {
  const text = describeSummary('S1-api', summarise(profile, root), 10);
  assert.match(text, 'Busy for 0 ms, with 10 entries.');
  assert.match(text, ' 93.3 %     14.0  modules/wallets\n');
});

test.run();
