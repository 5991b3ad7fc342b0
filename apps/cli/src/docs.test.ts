import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Parser } from '@asyncapi/parser';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { variableNames } from './docs/configuration.ts';
import { otherVariables } from './docs/variables.ts';
import { referenceDocuments, referenceFolder } from './docs.ts';

const test = suite('reference');
const documents = referenceDocuments();
const example = readFileSync(resolve(import.meta.dirname, '../../../.env.example'), 'utf8');

for (const [name, text] of Object.entries(documents)) {
  test(`docs/reference/${name} is what the code says`, () => {
    const path = join(referenceFolder, name);
    const committed = existsSync(path) ? readFileSync(path, 'utf8') : '';
    // Not compared by the assertion, which would print the whole of both.
    assert.ok(committed === text, `${firstDifference(committed, text)}; run npm run docs`);
  });
}

function firstDifference(committed: string, generated: string): string {
  const [old, now] = [committed.split('\n'), generated.split('\n')];
  const index = now.findIndex((line, place) => line !== old[place]);
  const place = index < 0 ? now.length : index;
  return `line ${place + 1} is ${JSON.stringify(old[place])}, not ${JSON.stringify(now[place])}`;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

interface OpenApiDocument {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const openApiDocuments = ['openapi.json', 'operator-openapi.json'].map(
  (name): OpenApiDocument => JSON.parse(documents[name] ?? ''),
);

const operationsIn = ({ paths }: OpenApiDocument): Operation[] =>
  Object.values(paths).flatMap(({ parameters: _, ...methods }) => Object.values(methods));

test('every operation of the OpenAPI documents has a success and its failures', () => {
  for (const { operationId, responses } of openApiDocuments.flatMap(operationsIn)) {
    assert.ok(
      Object.keys(responses).some((status) => status.startsWith('2')),
      operationId,
    );
    assert.ok('default' in responses, operationId);
  }
});

test('every tag of the OpenAPI documents is described', () => {
  for (const { name, description } of openApiDocuments.flatMap(({ tags }) => tags)) {
    assert.ok(description, name);
  }
});

test('every list and search names the fields that it is ordered by', () => {
  const { components, paths } = JSON.parse(documents['openapi.json'] ?? '');
  const sorts = [...partsOf({ components, paths })].flatMap(({ name, schema, properties }) => [
    ...(name === 'sort' && schema ? [schema] : []),
    ...(properties?.sort ? [properties.sort] : []),
  ]);
  assert.ok(sorts.length > 30);
  // What searches have in common describes the field, and each of them says which names it takes.
  const own = sorts.filter((sort) => Object.keys(sort).join() !== 'description');
  assert.ok(sorts.length - own.length <= 2);
  for (const sort of own) assert.match(JSON.stringify(sort), /schemas\/\w+Field"/);
});

interface Part {
  readonly name?: unknown;
  readonly schema?: object;
  readonly properties?: { readonly sort?: object };
}

/** Every object within a document. */
function* partsOf(value: unknown): Generator<Part> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const member of Object.values(value)) yield* partsOf(member);
}

test('the AsyncAPI document is one for its official parser', async () => {
  const { document, diagnostics } = await new Parser().parse(documents['asyncapi.json'] ?? '');
  const errors = diagnostics.filter(({ severity }) => severity === 0);
  assert.equal(
    errors.map(({ message }) => message),
    [],
  );
  assert.ok(document);
  assert.ok(document.messages().has('wallet_created'));
  assert.is(document.servers().all().length, 2);
  assert.ok(
    document
      .servers()
      .all()
      .every((server) => server.security().length === 1),
    'a server without security',
  );
});

/** Names at the beginning of a line, commented out or not. */
const exampleNames = [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name ?? '');

test('every variable of the programs is in .env.example, once', () => {
  for (const name of variableNames()) {
    assert.is(exampleNames.filter((other) => other === name).length, 1, name);
  }
});

test('every variable in .env.example is in the table of the configuration', () => {
  const known = new Set([...variableNames(), ...otherVariables.map(({ name }) => name)]);
  for (const name of exampleNames) assert.ok(known.has(name), name);
});

test.run();
