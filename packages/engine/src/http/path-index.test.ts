import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { indexPaths } from './path-index.ts';

const test = suite('path index');

const paths = [
  '/v1/customers',
  '/v1/customers/usage',
  '/v1/customers/usage/{day}',
  '/v1/customers/{id}',
  '/v1/customers/{id}/wallets',
  '/v1/customers/{customer_id}/wallets/{id}',
  '/v1/features/{id}/in/use',
];
const find = indexPaths(paths.map((path) => [path, path]));

const cases: Readonly<Record<string, readonly [path: string, parameters: object] | null>> = {
  '/v1/customers': ['/v1/customers', {}],
  '/v1/customers/': ['/v1/customers', {}],
  '/v1/customers/usage': ['/v1/customers/usage', {}],
  '/v1/customers/cust_1': ['/v1/customers/{id}', { id: 'cust_1' }],
  '/v1/customers/a%20b%2Fc': ['/v1/customers/{id}', { id: 'a b/c' }],
  '/v1/customers/__proto__': ['/v1/customers/{id}', { id: '__proto__' }],
  // What begins like a plain path may still be one with a placeholder.
  '/v1/customers/usage/wallets': ['/v1/customers/usage/{day}', { day: 'wallets' }],
  '/v1/customers/usage/wallets/w': [
    '/v1/customers/{customer_id}/wallets/{id}',
    { customer_id: 'usage', id: 'w' },
  ],
  '/v1/customers/c/wallets/w/': [
    '/v1/customers/{customer_id}/wallets/{id}',
    { customer_id: 'c', id: 'w' },
  ],
  '/v1/features/f/in/use': ['/v1/features/{id}/in/use', { id: 'f' }],
  '/v1/features/f/in': null,
  '/v1/features/f/in/use/more': null,
  '/v1/customers//': null,
  '/v1/customers//wallets': null,
  '/v1/customers/c//': null,
  '/v1/Customers': null,
  '/v1/%63ustomers': null,
  '/v1/': null,
  '/v1': null,
  '/': null,
  '': null,
  '*': null,
};

for (const [path, expected] of Object.entries(cases)) {
  test(`${path || 'nothing'} is ${expected?.[0] ?? 'no path'}`, () => {
    const found = find(path);
    assert.equal(found && [found.standing, found.parameters], expected);
  });
}

test('a placeholder that cannot be decoded is refused', () => {
  assert.throws(
    () => find('/v1/customers/%zz'),
    (error: unknown) => error instanceof Problem && error.code === 'validation_error',
  );
});

/** Counts the looks into maps that it takes to find a path among so many. */
function looksAmong(count: number, path: string): number {
  const others = Array.from({ length: count }, (_, number) =>
    number % 2 === 0 ? `/v1/wallets/{id}/part-${number}` : `/v1/kind-${number}/{id}`,
  );
  const among = indexPaths([...others, '/v1/wallets/{id}/debit'].map((each) => [each, each]));
  const { get } = Map.prototype;
  let looks = 0;
  Map.prototype.get = function counted(key) {
    looks += 1;
    return get.call(this, key);
  };
  try {
    among(path);
  } finally {
    Map.prototype.get = get;
  }
  return looks;
}

test('a look-up among 500 paths looks as often as one among 50', () => {
  for (const path of ['/v1/wallets/w/debit', '/v1/wallets/w/nothing', '/v1/nothing']) {
    const few = looksAmong(50, path);
    assert.ok(few > 0 && few <= 4, `${path}: ${few}`);
    assert.is(looksAmong(500, path), few, path);
  }
});

test.run();
