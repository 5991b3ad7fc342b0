import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SharedStack, sharedStack } from '../stack.ts';
import { exampleRequest, send } from './examples.ts';
import { type Operation, readOperations } from './operations.ts';
import { Records } from './records.ts';

const test = suite('the endpoints of the specification');

/** The endpoints of chapter 4, each with the operations that its section begins with. */
const endpoints = [
  'POST /plans/{id}/clone',
  'GET /plans/{id}',
  'POST /entitlements',
  'POST /entitlements/bulk',
  'GET /wallets/{id}/transactions',
  'POST /wallets',
  'GET /customers/usage',
  'GET /customers/{id}/entitlements',
  'PUT /customers',
  'GET /customers/{id}/grants/upcoming',
  'GET /costs/active',
  'DELETE /subscriptions/lineitems/{id}',
  'POST /subscriptions/usage',
  'POST /subscriptions/{id}/activate',
  'POST /subscriptions/{id}/change/preview',
  'POST /subscriptions/{id}/change/execute',
  'POST /creditnotes',
  'GET /subscriptions/{id}/addons/associations',
  'PUT /tasks/scheduled/{id}',
  'PUT /prices/units/{id}',
  'GET /users/me',
  'GET /tenants/{id}',
];

let stack: SharedStack;
let own: Records;
let operations: ReadonlyMap<string, Operation>;
test.before(async () => {
  stack = await sharedStack();
  own = new Records(stack, await stack.tenant('specification'), 'specification');
  operations = await readOperations(stack.baseUrl);
});

test('the list is that of the specification', () => {
  const page = new URL('../../../../docs/specification/interface.md', import.meta.url);
  const [, chapter = ''] = readFileSync(page, 'utf8').split(/^## 4\. Endpoints$/m);
  const [own4 = ''] = chapter.split(/^## 5\. /m);
  const sections = own4.split(/^### 4\.\d+ /m).slice(1);
  const named = sections.map(
    (section) => /`((?:GET|POST|PUT|DELETE) \/[^`?]+)`/.exec(section)?.[1],
  );
  assert.equal(named, endpoints);
});

for (const key of endpoints) {
  test(`${key} works`, async () => {
    const operation = operations.get(key);
    assert.ok(operation, `${key} is not served`);
    const request = await exampleRequest(own, key);
    const answer = await send(own.tenant, operation, request);
    assert.is(answer.status, operation.success, answer.text);
  });
}

test.run();
