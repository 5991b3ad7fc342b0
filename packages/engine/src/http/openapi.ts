import { BrokenInvariant } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { shownExample } from '../define/route-example.ts';
import type { ApiInfo } from './host.ts';
import { nullMeansAbsent } from './known-names.ts';
import { failureReference, failureResponses } from './openapi-failures.ts';
import { finishedDocument } from './openapi-finish.ts';
import { headerReferences, parameterReferences, sharedComponents } from './openapi-parts.ts';
import { withWebhooks } from './openapi-webhooks.ts';
import { operationId } from './operation-id.ts';
import { type PlacedRoute, routesByPath } from './routing.ts';

type Override = Exclude<CreateDocumentOptions['override'], undefined>;
type OverrideInput = Parameters<Override>[0];

/** The schema that a transformation starts from, where its output has none of its own. */
function transformedFrom({ zodSchema, io }: OverrideInput): z.ZodType | null {
  if (io !== 'output' || !(zodSchema instanceof z.ZodPipe)) return null;
  return zodSchema.def.out instanceof z.ZodTransform ? (zodSchema.def.in as z.ZodType) : null;
}

/** The JSON schema of a part of a schema; what it refers to by name stands in the document. */
function partOf(zodSchema: z.ZodType, io: OverrideInput['io']): Record<string, unknown> {
  const { $schema, $defs, ...part } = z.toJSONSchema(zodSchema, { io, unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/**
 * The type of a transformed value. A schema that takes several types shows by its example which one it
 * gives: a decimal comes as a string or a number and leaves as a string.
 */
function describeTransformed({ jsonSchema, zodSchema }: OverrideInput, source: z.ZodType): void {
  const example = z.globalRegistry.get(zodSchema)?.example;
  const parsed = example === undefined ? undefined : z.safeParse(zodSchema, example);
  if (parsed?.success && typeof parsed.data === 'string') {
    jsonSchema.type = 'string';
    return;
  }
  for (const [key, value] of Object.entries(partOf(source, 'input'))) {
    (jsonSchema as Record<string, unknown>)[key] ??= value;
  }
}

/** Other members are refused, and null stands for an absent one where it has no other meaning (D6). */
function describeMembers(jsonSchema: OverrideInput['jsonSchema'], { shape, def }: z.ZodObject) {
  // The generator puts all top-level schemas into one object, by their places in the document.
  if (Object.keys(shape).some((name) => name.includes(' > '))) return;
  if (!def.catchall) jsonSchema.additionalProperties = false;
  for (const [name, member] of Object.entries(shape)) {
    const described = jsonSchema.properties?.[name];
    if (described === undefined || !nullMeansAbsent(member)) continue;
    Object.assign(jsonSchema.properties ?? {}, {
      [name]: { anyOf: [described, { type: 'null' }] },
    });
  }
}

/** The checks of a number or a list that may also come as the text of a query string. */
function describeNormalised({ jsonSchema, zodSchema, io }: OverrideInput): void {
  if (io !== 'input' || !(zodSchema instanceof z.ZodPipe)) return;
  const { out } = zodSchema.def;
  if (!(out instanceof z.ZodNumber || out instanceof z.ZodArray)) return;
  // What is only counted before it is parsed has been described already.
  if (zodSchema.def.in instanceof z.ZodTransform && jsonSchema.items) return;
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, partOf(out, io));
}

/** Makes the generated schemas say exactly what holds on the wire. */
const override: Override = (context) => {
  const { jsonSchema, zodSchema, io } = context;
  const source = transformedFrom(context);
  if (source) describeTransformed(context, source);
  describeNormalised(context);
  if (zodSchema instanceof z.ZodDefault)
    jsonSchema.default ??= zodSchema.def.defaultValue as string;
  if (io === 'input' && zodSchema instanceof z.ZodObject) describeMembers(jsonSchema, zodSchema);
  // Members may be added to a response at any time; a client must not reject it for that.
  if (io === 'output' && zodSchema instanceof z.ZodObject) delete jsonSchema.additionalProperties;
  // The longest text of an instant is a limit of requests.
  if (io === 'output' && jsonSchema.format === 'date-time') delete jsonSchema.maxLength;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

/** Tells whether a request only reads: a GET, or a search, whose right is one to read. */
const onlyReads = ({ method, route }: PlacedRoute): boolean =>
  method === 'GET' || (route.permission?.endsWith(':read') ?? false);

const isNewestFirst = ({ route: { query, body } }: PlacedRoute): boolean =>
  [query, body].some((part) => asObject(part)?.shape.order !== undefined);

/** Returns the description of an operation that has none of its own. */
function plainDescription(placed: PlacedRoute): string {
  if (onlyReads(placed) && isNewestFirst(placed)) return 'The newest first.';
  const [, key] = /\{(\w+)\}$/.exec(placed.path) ?? [];
  if (placed.method === 'GET' && key !== undefined) return `By its ${key}.`;
  return `${placed.route.summary}.`;
}

/** The headers that some requests take. Those that all take are said once, in the introduction. */
function requestHeaders(placed: PlacedRoute) {
  if (onlyReads(placed)) return [];
  const { method, placeholders } = placed;
  const isOfRecord = method !== 'POST' || placeholders.length > 0;
  return parameterReferences([
    ...(method === 'POST' ? (['IdempotencyKey'] as const) : []),
    ...(isOfRecord ? (['IfMatch'] as const) : []),
  ]);
}

const statusTexts = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No content' } as const;

/** Placeholders of a route that has no schema for them are texts. */
const pathSchema = ({ placeholders }: PlacedRoute): z.ZodObject =>
  z.object(Object.fromEntries(placeholders.map((name) => [name, z.string().min(1)])));

const asObject = (schema: z.ZodType | undefined): z.ZodObject | undefined =>
  schema instanceof z.ZodObject ? schema : undefined;

function operation(placed: PlacedRoute, { pathWords }: ApiInfo): ZodOpenApiOperationObject {
  const { route } = placed;
  const path = asObject(route.params) ?? pathSchema(placed);
  const query = asObject(route.query);
  return {
    operationId: operationId(placed, pathWords),
    tags: [route.tag],
    summary: route.summary,
    description: route.description ?? plainDescription(placed),
    requestParams: { ...(placed.placeholders.length > 0 && { path }), ...(query && { query }) },
    parameters: requestHeaders(placed),
    ...(route.streams && {
      requestBody: { content: Object.fromEntries(route.streams.map((type) => [type, {}])) },
    }),
    ...(route.body && {
      requestBody: {
        required: !route.bodyOptional,
        content: {
          'application/json': {
            schema: route.body,
            ...(route.example?.body && { example: shownExample(route.example.body) }),
          },
        },
      },
    }),
    responses: {
      [String(route.status) as `${1 | 2 | 3 | 4 | 5}${string}`]: {
        description: statusTexts[route.status as keyof typeof statusTexts],
        ...(placed.madeAt !== null && { headers: headerReferences(['Location']) }),
        ...answerContent(route),
      },
      default: failureReference(placed),
    },
  };
}

/** The media types of an answer. Bytes have no schema (OpenAPI 3.1, 4.8.14.1). */
function answerContent({ response, contents = [] }: PlacedRoute['route']) {
  if (!response && contents.length === 0) return {};
  return {
    content: {
      ...(response && { 'application/json': { schema: response } }),
      ...Object.fromEntries(contents.map((type) => [type, {}])),
    },
  };
}

/** Throws `BrokenInvariant` on two equal operation ids. */
function refuseEqualIds(ids: readonly string[]): void {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new BrokenInvariant(`two routes have the operation id ${twice}`);
}

/** The OpenAPI 3.1 document of the routes. Throws `BrokenInvariant` on two equal operation ids. */
export function openApiDocument(placed: readonly PlacedRoute[], info: ApiInfo): object {
  refuseEqualIds(placed.map((route) => operationId(route, info.pathWords)));
  const { title, version, description, tags: texts = {}, webhooks = {} } = info;
  const paths: ZodOpenApiPathsObject = {};
  for (const [path, siblings] of routesByPath(placed)) {
    paths[`/v1${path}`] = Object.fromEntries(
      siblings.map((sibling) => [sibling.method.toLowerCase(), operation(sibling, info)]),
    );
  }
  const tags = [...new Set(placed.map(({ route }) => route.tag))].sort((left, right) =>
    left.localeCompare(right, 'en'),
  );
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title, version, description },
      servers: [{ url: '/' }],
      security: [{ apiKey: [] }],
      tags: tags.map((name) => ({ name, ...(texts[name] && { description: texts[name] }) })),
      paths,
      components: sharedComponents(failureResponses(placed)),
    },
    { override },
  );
  return finishedDocument(withWebhooks(document, webhooks), info);
}
