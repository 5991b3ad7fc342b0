import { verify } from '@counterfoil/cli/verify';
import fc from 'fast-check';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { startStack } from '../stack.ts';
import { anything } from './anything.ts';
import {
  addressOf,
  type ExampleRequest,
  exampleRequest,
  namesByQuery,
  requestWith,
  send,
} from './examples.ts';
import { openings } from './openings.ts';
import {
  type Field,
  fieldsIn,
  fieldsOfPart,
  type Operation,
  readOperations,
  type Schema,
} from './operations.ts';
import { assertProblem, pointersIn } from './problem-answer.ts';
import { Records } from './records.ts';
import type { WatchedRequests } from './stored-requests.ts';
import {
  assertAnswered,
  assertRefusedAt,
  describe,
  forAll,
  placeOf,
  type Trial,
  type Trials,
  trialOf,
  unspentExample,
} from './trial.ts';
import { malformedBodies, wrongValues } from './wrong-values.ts';

async function refuseMalformedBodies(
  operation: Operation,
  base: ExampleRequest,
  watched: WatchedRequests,
): Promise<void> {
  if (!operation.body) return;
  const { body: _, ...rest } = base;
  for (const body of malformedBodies) {
    const answer = await watched.call(operation.method, addressOf(operation, rest), body);
    assert.is(answer.status, 400, describe({ body: String(body).slice(0, 100) }, answer));
    assertProblem(answer, 'validation_error');
    assert.ok(pointersIn(answer).length > 0, answer.text);
  }
  const nothing = await watched.call(operation.method, addressOf(operation, rest), '');
  assert.is(nothing.status, operation.bodyRequired ? 400 : operation.success, nothing.text);
}

/** Texts in the place of an id: of no form, of another kind, too long, dangerous elsewhere. */
const strangeIds = [
  'x',
  ' ',
  'a b',
  'wallet_',
  'wallet_01KA0000000000000000000000',
  'cust_01ka0000000000000000000000',
  'tenant_ZZZZZZZZZZZZZZZZZZZZZZZZZZ',
  'a/b',
  'a%2Fb',
  '\0',
  'a\0b',
  "' or 1=1 --",
  '__proto__',
  'constructor',
  '$all',
  'wallet-x.y',
  '😀',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(4_000),
];

const goodLimits = ['1', '01'];
const badLimits = [
  '0',
  '-1',
  '1001',
  '1e3',
  '1.5',
  '1.0',
  '+1',
  ' 1',
  '0x1',
  'NaN',
  '',
  'ten',
  '٣',
];
const badOffsets = ['-1', '1e3', '0.5', '', 'x', '1000000001', '99999999999999999999'];
const badLimitValues = [0, -1, 1001, 1.5, 1e21, true, [1], { value: 1 }];

/** Limit and offset, for an operation that has them. */
async function checkPaging(
  operation: Operation,
  base: ExampleRequest,
  ask: Trial['send'],
): Promise<void> {
  const part = operation.query.limit ? 'query' : 'body';
  const fields = operation.body ? fieldsIn(operation.body) : [];
  const has = (name: string) =>
    name in operation.query || fields.some(({ path }) => path.join() === name);
  if (!has('limit')) return;
  const refuse = async (name: string, value: unknown) => {
    const request = requestWith(base, `${part}.${name}`, value);
    assertRefusedAt(await ask(request), { part, path: [name] }, request);
  };
  for (const limit of badLimits) await refuse('limit', limit);
  // A list that continues from a place in the log has no offset.
  if (!has('offset')) return;
  const inBody = fields
    .filter(({ path }) => path.join() === 'limit')
    .flatMap(({ schemas }) => schemas.flatMap(({ maximum }) => maximum ?? []));
  const most = Number(operation.query.limit?.maximum ?? Math.min(1_000, ...inBody.map(Number)));
  if (most < 1_000) await refuse('limit', String(most + 1));
  const good = [...goodLimits, String(most)];
  for (const limit of part === 'query' ? good : [...good, 1, most]) {
    const request = requestWith(requestWith(base, `${part}.limit`, limit), `${part}.offset`, '7');
    const answer = await ask(request);
    assert.is(answer.status, 200, describe(request, answer));
    // The public contract has forms of its own for lists of environments and of used features.
    const { environments, features = environments, items = features } = answer.body;
    const { pagination = answer.body } = answer.body;
    const { total, limit: given, offset } = pagination;
    assert.equal([given, offset], [Number(limit), 7]);
    assert.is(items.length, Math.max(0, Math.min(Number(limit), total - 7)));
  }
  for (const offset of badOffsets) await refuse('offset', offset);
  if (part === 'query') return;
  for (const value of badLimitValues) await refuse('limit', value);
}

/** A query holds nothing but texts. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Fields that have been tried with every wrong value. */
const fieldsSeen = new Set<string>();

const fuzzRuns = 15;

/**
 * Adds tests to a suite: a stack, each of the operations with every kind of input, and a look at the read
 * models in the end. What it gives is the running stack, once the tests run.
 */
export function tryOperations(test: Test, keys: readonly string[]): () => Trials {
  const opened = openings();
  let started: Trials | null = null;
  const trials = (): Trials => {
    assert.ok(started, 'the stack has been started');
    return started;
  };
  test.before(async () => {
    const stack = opened.add(await startStack(), (running) => running.stop());
    const own = new Records(stack, await stack.tenant('contract'), 'contract');
    const operations = await readOperations(stack.baseUrl);
    started = { stack, own, operations, unspent: new Map() };
  });
  test.after(() => opened.closeAll());
  for (const key of keys) {
    trySuccess(test, key, trials);
    tryWrongValues(test, key, trials);
    tryPath(test, key, trials);
    tryExtremes(test, key, trials);
    tryAnything(test, key, trials);
  }
  tryAllLists(test, trials);
  return trials;
}

/** Null for every member that may be left out and for which null means nothing else. */
const absentMembers = (body: Schema): object =>
  Object.fromEntries(
    fieldsIn(body).flatMap(({ path, types, isRequired }) =>
      path.length === 1 && types.has('null') && !isRequired ? [[path[0], null]] : [],
    ),
  );

function trySuccess(test: Test, key: string, trials: () => Trials): void {
  test(`${key} succeeds, with nothing else in the request that it does not know`, async () => {
    const { operation, base, send: ask } = await trialOf(trials(), key, 'success');
    const first = await ask(base);
    assert.is(first.status, operation.success, describe(base, first));
    const again = await unspentExample(trials(), key);
    const strange = JSON.parse('{"unknown":{"deep":[1]},"__proto__":{"a":1},"constructor":"c"}');
    const request = {
      ...again,
      ...(operation.body
        ? { body: { ...absentMembers(operation.body), ...strange, ...(again.body as object) } }
        : { query: { ...again.query, unknown: 'x', constructor: 'y' } }),
    };
    const refused = await ask(request);
    assert.is(refused.status, 400, describe(request, refused));
    assert.equal(pointersIn(refused), ['/unknown', '/constructor']);
    const second = await ask(request, { Prefer: 'handling=lenient' });
    assert.is(second.status, operation.success, describe(request, second));
    assert.is(second.headers.get('counterfoil-ignored'), '/unknown, /constructor');
    if (operation.success === 204) assert.is(second.text, '');
    else assert.ok(operation.types.includes(second.headers.get('content-type') ?? ''));
  });
}

function tryWrongValues(test: Test, key: string, trials: () => Trials): void {
  test(`${key} refuses what is wrong, names the place and stores nothing`, async () => {
    const { operation, base, watched, send: ask } = await trialOf(trials(), key, 'wrong');
    await forAll(wrongValues(operation, fieldsSeen), async (wrong) => {
      const request = requestWith(base, placeOf(wrong), wrong.value);
      assertRefusedAt(await ask(request), wrong, request);
    });
    for (const { path, isRequired } of operation.body ? fieldsIn(operation.body) : []) {
      if (!isRequired || path.length > 1) continue;
      const request = requestWith(base, placeOf({ part: 'body', path }), undefined);
      assertRefusedAt(await ask(request), { part: 'body', path }, request);
    }
    await refuseMalformedBodies(operation, base, watched);
    assert.equal(await watched.storedThoughRefused(), []);
  });
}

function tryPath(test: Test, key: string, trials: () => Trials): void {
  test(`${key} answers whatever is in its path, and a page of every size`, async () => {
    const { operation, base, watched, send: ask } = await trialOf(trials(), key, 'path');
    for (const name of Object.keys(operation.pathParameters)) {
      await forAll(strangeIds, async (id) => {
        const request = requestWith(base, `path.${name}`, id);
        const answer = await ask(request);
        assertAnswered(answer, operation, request);
        if ([400, 404].includes(answer.status) || isNamed(answer, id)) return;
        const named = namedBy(trials().operations, operation, name);
        assert.ok(named, describe(request, answer));
        const record = await send(watched, named, request);
        assert.ok(isNamed(record, id), describe(request, answer));
      });
    }
    await checkPaging(operation, base, ask);
    assert.equal(await watched.storedThoughRefused(), []);
  });
}

/** The operation that reads the record which a parameter names, where the path goes on after it. */
function namedBy(
  operations: Trials['operations'],
  { path }: Operation,
  parameter: string,
): Operation | undefined {
  const placeholder = `{${parameter}}`;
  return operations.get(`GET ${path.slice(0, path.indexOf(placeholder) + placeholder.length)}`);
}

/** Tells whether a record was found that has the very value: another trial may have chosen it as a code. */
const isNamed = (
  { status, text }: { readonly status: number; readonly text: string },
  value: string,
): boolean => {
  if (status !== 200) return false;
  const found: unknown = JSON.parse(text);
  return typeof found === 'object' && Object.values(found ?? {}).includes(value);
};

/** The ends of time, which have a form that every date-time may have. */
const extremeInstants = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'];

function tryExtremes(test: Test, key: string, trials: () => Trials): void {
  test(`${key} answers at the ends of time`, async () => {
    const { operation, base, watched, send: ask } = await trialOf(trials(), key, 'extreme');
    const isInstant = ({ schemas }: Field) => schemas.some(({ format }) => format === 'date-time');
    const places = [
      ...fieldsOfPart(operation.query)
        .filter(isInstant)
        .map(({ path }) => placeOf({ part: 'query', path })),
      ...(operation.body ? fieldsIn(operation.body) : [])
        .filter(isInstant)
        .map(({ path }) => placeOf({ part: 'body', path })),
    ];
    let current = base;
    for (const place of places) {
      for (const instant of extremeInstants) {
        const request = requestWith(current, place, instant);
        const answer = await ask(request);
        assertAnswered(answer, operation, request);
        if (answer.status < 400) current = await unspentExample(trials(), key);
      }
    }
    assert.equal(await watched.storedThoughRefused(), []);
  });
}

function tryAnything(test: Test, key: string, trials: () => Trials): void {
  test(`${key} survives anything`, async () => {
    const { operation, base, watched, send: ask } = await trialOf(trials(), key, 'anything');
    const places = [
      ...fieldsOfPart(operation.query).map(({ path }) => placeOf({ part: 'query', path })),
      ...(operation.body ? fieldsIn(operation.body) : []).map(({ path }) =>
        placeOf({ part: 'body', path }),
      ),
    ];
    if (places.length === 0) return;
    const change = fc.tuple(fc.constantFrom(...places), anything);
    let current = base;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const request = changes.reduce(
          (changed, [place, value]) =>
            requestWith(changed, place, place.startsWith('query.') ? asText(value) : value),
          current,
        );
        const answer = await ask(request);
        assertAnswered(answer, operation, request);
        // A refused request has changed nothing, so that the next one can build on the same
        // records.
        if (answer.status < 400) current = await unspentExample(trials(), key);
      }),
      { numRuns: fuzzRuns, endOnFailure: true },
    );
    assert.equal(await watched.storedThoughRefused(), []);
  });
}

function tryAllLists(test: Test, trials: () => Trials): void {
  test('after all this every list can be read, and the read models are what the log says', async () => {
    // A table that has stopped at some event is not at the end of the log, and says so if asked.
    const toTheEnd = { 'counterfoil-min-position': `${await trials().stack.store.head()}` };
    for (const operation of trials().operations.values()) {
      const isSearch = operation.path.endsWith('/search');
      if (operation.path.includes('{') || !(isSearch || operation.query.offset)) continue;
      const { query } =
        operation.queryRequired || namesByQuery(operation)
          ? await exampleRequest(trials().own, operation.key)
          : { query: {} };
      for (let offset = 0, total = 1; offset < total; offset += 1_000) {
        const page = { limit: 1_000, offset };
        const request = isSearch
          ? { body: page }
          : { query: { ...query, limit: '1000', offset: `${offset}` } };
        const answer = await send(trials().own.tenant, operation, request, toTheEnd);
        assert.is(answer.status, 200, answer.text);
        // Environments stand beside their total, as the contract has it.
        total = (answer.body.pagination ?? answer.body).total;
      }
    }
    const lines: string[] = [];
    const { eventStoreUrl, databaseUrl, natsUrl } = trials().stack;
    const isClean = await verify({ eventStoreUrl, databaseUrl, natsUrl }, (line) =>
      lines.push(line),
    );
    assert.ok(isClean, lines.join('\n'));
  });
}
