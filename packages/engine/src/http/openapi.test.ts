import { decimalSchema, instantSchema, problemCodes } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { listShape } from '../define/listing.ts';
import { type Routes, route } from '../define/route.ts';
import type { ApiInfo } from './host.ts';
import { openApiDocument } from './openapi.ts';
import { placeRoutes } from './routing.ts';
import { thingRoutes } from './test-machine.ts';

const test = suite('OpenAPI document');

interface Operation {
  readonly description: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Record<string, unknown>[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, Record<string, unknown>>>;
}

interface Document {
  readonly openapi: string;
  readonly info: unknown;
  readonly security: unknown;
  readonly tags: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Record<string, unknown>>>;
    readonly securitySchemes: unknown;
    readonly responses: Readonly<Record<string, { description: string }>>;
    readonly parameters: Readonly<Record<string, { description?: string }>>;
  };
}

const info = { title: 'Things', version: '1.0.0', description: 'For tests' };

const documentOf = (routes: Routes, described: ApiInfo = info): Document => {
  const module = { name: 'things', aggregates: [], tables: [], publicEvents: [], routes };
  const document = openApiDocument(placeRoutes([module]), described);
  return JSON.parse(JSON.stringify(document)) as Document;
};

const things = documentOf(thingRoutes);

type PathItem = Document['paths'][string];

const operationsOf = (item: PathItem): Operation[] =>
  Object.values(item).filter((each) => !Array.isArray(each));

/** The parameters of an operation, with those that all of its path take. */
function parametersOf(item: PathItem, { parameters }: Operation): Record<string, unknown>[] {
  const common = (item as { readonly parameters?: Operation['parameters'] }).parameters ?? [];
  return [...common, ...(parameters ?? [])].map((each) =>
    each.$ref ? (resolve(things, String(each.$ref)) as Record<string, unknown>) : each,
  );
}

/** Every `$ref` in a document. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' ? [String(member)] : referencesIn(member),
  );
}

const resolve = (document: unknown, reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/'))
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);

/** The answer of an operation with a status. */
function answerOf(document: Document, { responses }: Operation, status: number) {
  const answer = responses[status] ?? {};
  return (answer.$ref ? resolve(document, String(answer.$ref)) : answer) as Record<string, object>;
}

test('is OpenAPI 3.1 with the API key as its security', () => {
  assert.match(things.openapi, /^3\.1\./);
  assert.equal(things.info, info);
  assert.equal(things.security, [{ apiKey: [] }]);
  assert.equal(things.components.securitySchemes, {
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  });
  assert.equal(things.tags, [{ name: 'things' }]);
});

test('has every route below /v1, with its success code', () => {
  for (const [key, { status }] of Object.entries(thingRoutes)) {
    const [method = '', path = ''] = key.split(' ');
    const operation = things.paths[`/v1${path}`]?.[method.toLowerCase()];
    assert.ok(operation, key);
    assert.ok(operation.responses[status], key);
    assert.is('content' in answerOf(things, operation, status), status !== 204);
  }
  const operations = Object.values(things.paths).flatMap(operationsOf);
  assert.is(operations.length, Object.keys(thingRoutes).length);
});

test('every reference leads somewhere', () => {
  const references = referencesIn(things);
  assert.ok(references.length > 20);
  for (const reference of references) assert.ok(resolve(things, reference), reference);
});

test('every placeholder is a required path parameter', () => {
  for (const [path, item] of Object.entries(things.paths)) {
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const operation of operationsOf(item)) {
      const described = parametersOf(item, operation).filter(
        (parameter) => parameter.in === 'path',
      );
      assert.equal(
        described.map(({ name }) => name),
        placeholders,
      );
      assert.ok(described.every(({ required }) => required === true));
    }
  }
});

/** The statuses that an operation can fail with. */
function failuresOf(operation: Operation | undefined): readonly number[] {
  const response = resolve(things, String(operation?.responses.default?.$ref));
  return resolve(
    response,
    '#/content/application~1json/schema/allOf/1/properties/http_status_code/enum',
  ) as number[];
}

test('every failure has the one body, which names every code', () => {
  const { Problem } = things.components.schemas;
  assert.equal(resolve(Problem, '#/properties/code/enum'), Object.keys(problemCodes));
  const text = String(resolve(Problem, '#/properties/code/description'));
  for (const [code, { status }] of Object.entries(problemCodes)) {
    assert.ok(text.includes(`\`${code}\` (${status})`), code);
  }
  for (const operation of Object.values(things.paths).flatMap(operationsOf)) {
    const response = resolve(things, String(operation.responses.default?.$ref));
    assert.match(JSON.stringify(response), /"\$ref":"#\/components\/schemas\/Problem"/);
  }
});

test('an operation has the failures and headers that its kind can have', () => {
  const create = things.paths['/v1/things']?.post;
  const read = things.paths['/v1/things/{id}']?.get;
  const usage = things.paths['/v1/things/usage']?.get;
  assert.ok(create && read && usage);
  assert.equal(Object.keys(create.responses), ['201', 'default']);
  assert.equal(failuresOf(create), [400, 401, 403, 404, 408, 409, 412, 413, 415, 429, 500, 503]);
  assert.equal(failuresOf(read), [400, 401, 403, 404, 429, 500, 503]);
  assert.equal(failuresOf(usage), [400, 401, 404, 429, 500, 503]);
  const keyed = referencesIn(create.parameters);
  assert.ok(keyed.includes('#/components/parameters/IdempotencyKey'));
  assert.not.ok(referencesIn(read.parameters).includes('#/components/parameters/IdempotencyKey'));
});

test('says whether a body is required', () => {
  assert.is(things.paths['/v1/things']?.post?.requestBody?.required, true);
  assert.is(things.paths['/v1/things/{id}/poke']?.post?.requestBody?.required, false);
  assert.not.ok(things.paths['/v1/things/{id}']?.delete?.requestBody);
});

test('refuses two routes with one operation id', () => {
  const base = thingRoutes['GET /things/usage'];
  assert.ok(base);
  const routes = { 'GET /a-boxes/{id}': base, 'GET /a_boxes/{id}': base } as Routes;
  assert.throws(() => documentOf(routes), /operation id/);
});

test('describes values as they are on the wire', () => {
  const resource = z
    .object({
      amount: decimalSchema(9),
      at: instantSchema,
      maybe: decimalSchema(9).nullable().optional(),
      total: z.int(),
    })
    .meta({ id: 'Resource' });
  const document = documentOf({
    'POST /resources': route({
      tag: 'resources',
      summary: 'Takes and gives',
      status: 200,
      permission: null,
      query: z.object(listShape),
      body: resource,
      response: resource,
      handle: async (_context, { body }) => body,
    }),
  });
  const { schemas } = document.components;
  const output = schemas.ResourceOutput;
  assert.ok(output);
  const properties = output.properties as Record<string, Record<string, unknown>>;
  assert.is(properties.amount?.type, 'string');
  assert.is(properties.at?.type, 'string');
  assert.is(properties.at?.format, 'date-time');
  assert.equal(properties.total, {
    type: 'integer',
    description: 'Number of records on all pages',
  });
  assert.not.ok('additionalProperties' in output);
  const input = schemas.Resource?.properties as Record<string, Record<string, unknown>>;
  assert.match(JSON.stringify(input.amount), /"string".*"number"/);
  const limit = document.paths['/v1/resources']?.post?.parameters?.find(
    ({ name }) => name === 'limit',
  );
  assert.equal(limit?.schema, { default: 50, type: 'integer', minimum: 1, maximum: 1000 });
});

test('fields and parameters take the text of their name where their schema has none', () => {
  const list = route({
    tag: 'things',
    summary: 'List',
    status: 200,
    permission: null,
    query: z.object({ limit: z.string().optional(), own: z.string().meta({ description: 'Own' }) }),
    response: z.object({ total: z.int() }).meta({ id: 'Total' }),
    handle: async () => ({ total: 1 }),
  });
  const fields = { limit: 'At most', own: 'Common', total: 'Common', 'Total.total': 'Of all' };
  const document = documentOf({ 'GET /things': list, 'GET /boxes': list }, { ...info, fields });
  const { parameters, schemas } = document.components;
  assert.is(parameters.Limit?.description, 'At most');
  assert.is(parameters.Own?.description, 'Own');
  assert.is(resolve(schemas, '#/Total/properties/total/description'), 'Of all');
});

test('a parameter of several operations is written once', () => {
  const list = thingRoutes['GET /things'];
  assert.ok(list);
  const document = documentOf({ 'GET /things': list, 'GET /boxes': list });
  const [things, boxes] = ['/v1/things', '/v1/boxes'].map((path) => document.paths[path]?.get);
  assert.equal(things?.parameters, boxes?.parameters);
  assert.ok(referencesIn(things?.parameters).includes('#/components/parameters/Limit'));
});

test('types of event with the same body share its schema, which names and explains them', () => {
  const event = (type: string, member: string, summary: string) => ({
    summary,
    body: {
      type: 'object',
      title: type,
      properties: { event_type: { type: 'string', const: type }, [member]: { type: 'object' } },
      additionalProperties: false,
    },
  });
  const webhooks = {
    'box.made': event('box.made', 'box', 'A box is made'),
    'box.broken': event('box.broken', 'box', 'A box breaks'),
    'box.lid.lost': event('box.lid.lost', 'lid', 'A lid is lost'),
  };
  const document = documentOf(thingRoutes, { ...info, webhooks });
  const { schemas } = document.components;
  const body = resolve(document.webhooks.event, '#/post/requestBody/content/application~1json');
  assert.equal(body, { schema: { $ref: '#/components/schemas/WebhookBody' } });
  assert.equal(referencesIn(schemas.WebhookBody), [
    '#/components/schemas/BoxEvent',
    '#/components/schemas/BoxLidEvent',
  ]);
  assert.equal(schemas.BoxEvent, {
    type: 'object',
    properties: {
      event_type: {
        type: 'string',
        enum: ['box.made', 'box.broken'],
        description: 'A box is made; A box breaks',
      },
      box: { type: 'object' },
    },
  });
});

/** A document of routes that take these bodies. */
function documentOfBodies(bodies: Readonly<Record<string, z.ZodObject>>): Document {
  const routes = Object.entries(bodies).map(([name, body]) => [
    `POST /${name}`,
    route({
      tag: 'things',
      summary: 'Take',
      status: 200,
      permission: null,
      body: body.meta({ id: name }),
      response: z.object({}),
      handle: async () => ({}),
    }),
  ]);
  return documentOf(Object.fromEntries(routes) as Routes);
}

const described = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description });

const boxShape = {
  colour: described(z.string().max(64), 'The paint on the outside, as dealers name it'),
  weight: described(z.int().min(1), 'What it weighs without what is in it, in grams'),
  height: described(z.int().min(1), 'How high it stands with its lid on, in millimetres'),
};

const boxBodies = {
  CreateBox: z.object({
    ...boxShape,
    code: described(z.string(), 'How dealers call boxes of this kind'),
  }),
  UpdateBox: z.object({
    ...boxShape,
    code: described(z.string().max(0), 'How dealers call boxes of this kind'),
    reason: z.string().optional(),
  }),
  CreateLid: z.object({ shape: z.string() }),
};

test('fields that several requests about one thing take are written once, and each still takes no others', () => {
  const { schemas } = documentOfBodies(boxBodies).components;
  const { CreateBox, UpdateBox, BoxFields, CreateLid } = schemas;
  assert.equal(Object.keys(BoxFields?.properties ?? {}), ['colour', 'weight', 'height', 'code']);
  assert.equal(BoxFields?.required, ['colour', 'weight', 'height']);
  assert.not.ok('additionalProperties' in (BoxFields ?? {}));
  for (const schema of [CreateBox, UpdateBox]) {
    assert.equal(schema?.allOf, [{ $ref: '#/components/schemas/BoxFields' }, {}]);
    assert.is(schema?.unevaluatedProperties, false);
    assert.not.ok('additionalProperties' in (schema ?? {}));
    assert.not.ok('type' in (schema ?? {}));
  }
  assert.equal(Object.keys(UpdateBox?.properties ?? {}), ['code', 'reason']);
  assert.equal(UpdateBox?.required, ['code']);
  assert.is(CreateLid?.additionalProperties, false);
});

test('a field that requests about one thing restrict each in its own way is described once', () => {
  const { CreateBox, UpdateBox, BoxFields } = documentOfBodies(boxBodies).components.schemas;
  const code = (schema: unknown) => resolve(schema, '#/properties/code');
  assert.equal(code(BoxFields), { description: 'How dealers call boxes of this kind' });
  assert.equal(code(CreateBox), { type: 'string' });
  assert.equal(code(UpdateBox), { type: 'string', maxLength: 0 });
});

test('a long type that several fields have is written once, beside what each of them means', () => {
  const meanings = ['made', 'sold', 'lost', 'found', 'mended', 'burnt'];
  const shape = meanings.map((meaning) => [
    meaning,
    described(instantSchema.nullish(), `When it was ${meaning}`),
  ]);
  const { schemas } = documentOfBodies({ Story: z.object(Object.fromEntries(shape)) }).components;
  for (const meaning of meanings) {
    assert.equal(resolve(schemas, `#/Story/properties/${meaning}`), {
      $ref: '#/components/schemas/InstantOrNull',
      description: `When it was ${meaning}`,
    });
  }
  assert.equal(schemas.InstantOrNull, {
    format: 'date-time',
    type: ['string', 'null'],
    maxLength: 40,
  });
});

test('an operation without a description says in which order it lists, or by what it finds', () => {
  const plain = (key: keyof Routes): Routes[keyof Routes] => {
    const base = thingRoutes[key];
    assert.ok(base);
    const { description: _, ...rest } = base;
    return rest;
  };
  const { paths } = documentOf({
    'GET /boxes': { ...plain('GET /things'), query: z.object(listShape) },
    'GET /boxes/{code}': plain('GET /things/{id}'),
    'DELETE /boxes/{code}': { ...plain('DELETE /things/{id}'), summary: 'Crush a box' },
  });
  assert.is(paths['/v1/boxes']?.get?.description, 'The newest first.');
  assert.is(paths['/v1/boxes/{code}']?.get?.description, 'By its code.');
  assert.is(paths['/v1/boxes/{code}']?.delete?.description, 'Crush a box.');
});

test('headers stand where only some operations take them', () => {
  const parameters = (path: string, method: string) =>
    referencesIn(things.paths[path]?.[method]?.parameters).map((each) => each.split('/').at(-1));
  assert.equal(parameters('/v1/things', 'post'), ['IdempotencyKey']);
  assert.ok(parameters('/v1/things/{id}/poke', 'post').includes('IfMatch'));
});

test('a tag has its text', () => {
  const document = documentOf(thingRoutes, { ...info, tags: { things: 'What there is' } });
  assert.equal(document.tags, [{ name: 'things', description: 'What there is' }]);
});

test('Location is promised where it is sent: of a record whose id is answered, and that can be read', () => {
  const made = (response: z.ZodType, madeIn?: string) =>
    route({
      ...{ summary: 'Make', tag: 'parts', status: 201, permission: null, response },
      ...(madeIn && { example: { madeIn } }),
      handle: async () => ({}),
    });
  const part = z.object({ id: z.string() });
  const document = documentOf({
    ...thingRoutes,
    'POST /things/{id}/clone': made(thingRoutes['GET /things/{id}']?.response),
    'POST /things/{id}/parts': made(z.object({ part }), 'part'),
    'POST /things/{id}/spares': made(part),
    'GET /things/{id}/parts/{part_id}': { ...made(part), status: 200 },
    'POST /things/bulk': made(z.object({ items: z.array(part) })),
    'POST /unread': made(part),
  });
  const { paths } = document;
  const promising = Object.entries(paths).filter(([, { post }]) =>
    Object.hasOwn((post && answerOf(document, post, 201).headers) ?? {}, 'Location'),
  );
  assert.equal(
    promising.map(([path]) => path),
    ['/v1/things', '/v1/things/{id}/clone', '/v1/things/{id}/parts'],
  );
});

test.run();
