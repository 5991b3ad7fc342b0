import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { referenceDocuments } from '../docs.ts';

/** A part of a document: an object of JSON. */
interface Part {
  readonly [name: string]: unknown;
}

const written = referenceDocuments();
const names = ['openapi.json', 'operator-openapi.json'];
const documents = names.map((name) => ({
  name,
  document: JSON.parse(written[name] ?? '') as Part,
}));

/** All rules that the linter has for OpenAPI, but for those that ask for what there is not. */
const rules = {
  extends: [[{ ...rulesets.oas, extends: [] }, 'all'] as [RulesetDefinition, 'all']],
  rules: {
    // Nobody stands behind a document that each installation serves for itself, and it has no licence.
    'info-contact': 'off' as const,
    'info-license': 'off' as const,
    'license-url': 'off' as const,
  },
};

const test = suite('OpenAPI documents');

for (const { name, document } of documents) {
  test(`the linter finds nothing in ${name}`, async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset(rules);
    const found = await linter.run({ ...document });
    assert.equal(
      found.map(({ code, path, message }) => `${path.join('/')}: ${message} (${code})`),
      [],
    );
  });
}

const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A place in a document, and the part there. */
interface Place {
  readonly document: Part;
  readonly at: string;
  readonly part: Part;
}

/** The parts of a document that a test asks for, with their places. */
function* partsOf(document: Part, value: unknown, at: string): Generator<Place> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* partsOf(document, item, `${at}/${index}`);
  }
  if (!isPart(value)) return;
  // Its keys are names of fields, and one may be called as a keyword is.
  if (!at.endsWith('/properties') || typeof value.type === 'string')
    yield { document, at, part: value };
  for (const [name, member] of Object.entries(value)) {
    if (name !== 'example' && name !== 'default') yield* partsOf(document, member, `${at}/${name}`);
  }
}

const allParts = documents.flatMap(({ name, document }) => [...partsOf(document, document, name)]);

/** The part of a document that a reference names. */
const partAt = (document: Part, reference: string): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((part, key) => (isPart(part) ? part[key] : null), document);

/** A field is described by itself, or by the schema of a name that it has or may have. */
function isDescribed(document: Part, field: unknown): boolean {
  if (!isPart(field)) return false;
  const { description, $ref, anyOf } = field;
  if (typeof description === 'string') return description.trim() !== '';
  if (typeof $ref === 'string') return isDescribed(document, partAt(document, $ref));
  return Array.isArray(anyOf) && anyOf.some((each) => isDescribed(document, each));
}

/** A field is described as well by one of the schemas that its own extends. */
function isInherited(document: Part, schema: unknown, name: string): boolean {
  if (!isPart(schema) || !Array.isArray(schema.allOf)) return false;
  const bases = schema.allOf.flatMap((each) =>
    isPart(each) && typeof each.$ref === 'string' ? [partAt(document, each.$ref)] : [],
  );
  return bases.some(
    (base) =>
      isDescribed(document, isPart(base) && isPart(base.properties) && base.properties[name]) ||
      isInherited(document, base, name),
  );
}

test('every field of every schema has a description', () => {
  const conditions = /\/(allOf|if|then|else|not|oneOf)(\/|$)/;
  const fields = allParts.flatMap(({ document, at, part }) =>
    isPart(part.properties) && !conditions.test(at)
      ? Object.entries(part.properties).map(([name, field]) => ({
          at: `${at}/${name}`,
          isSaid: isDescribed(document, field) || isInherited(document, part, name),
        }))
      : [],
  );
  assert.ok(fields.length > 1_000);
  const missing = fields.filter(({ isSaid }) => !isSaid).map(({ at }) => at);
  assert.equal(missing, []);
});

const json = ({ 'application/json': content }: Part): Part | null =>
  isPart(content) ? content : null;

const contents = allParts.filter(({ part }) => json(part) !== null);

test('every body and every answer has a schema with a name', () => {
  assert.ok(contents.length > 200);
  const unnamed = contents.filter(
    ({ part }) => !JSON.stringify(json(part)?.schema).includes('"$ref"'),
  );
  assert.equal(
    unnamed.map(({ at }) => at),
    [],
  );
});

test('every body of a request has an example', () => {
  const bodies = contents.filter(({ at }) => /\/paths\/.*\/requestBody\//.test(at));
  assert.ok(bodies.length > 80);
  const missing = bodies.filter(({ part }) => !isPart(json(part)?.example));
  assert.equal(
    missing.map(({ at }) => at),
    [],
  );
});

/** The operations of a document, by id. */
const operationsOf = ({ paths }: Part): Part[] =>
  Object.values(isPart(paths) ? paths : {})
    .flatMap((item) => (isPart(item) ? Object.values(item) : []))
    .filter(isPart);

test('every operation has a summary and a description', () => {
  const isSaid = (text: unknown): boolean => typeof text === 'string' && text.trim() !== '';
  const faulty = documents
    .flatMap(({ document }) => operationsOf(document))
    .filter(({ summary, description }) => !isSaid(summary) || !isSaid(description));
  assert.equal(
    faulty.map(({ operationId }) => operationId),
    [],
  );
});

/**
 * The most that the document may take up for each operation, in bytes as it is served. What several operations share belongs
 * into a component, and what all of them do alike into the introduction. The bodies of subscriptions and invoices are the largest, and
 * most of the latest operations are theirs; an explanation names every figure.
 */
const bytesPerOperation = 2_000;

test('the document does not grow faster than its operations', () => {
  const document = JSON.parse(written['openapi.json'] ?? '') as Part;
  const bytes = Buffer.byteLength(JSON.stringify(document));
  const operations = operationsOf(document).length;
  assert.ok(bytes > 100 * operations);
  const allowed = operations * bytesPerOperation;
  assert.ok(bytes <= allowed, `${bytes} bytes for ${operations} operations`);
});

test.run();
