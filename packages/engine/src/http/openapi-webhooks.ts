import { isMap } from './fields.ts';
import type { Webhook } from './host.ts';
import { parameterReferences } from './openapi-parts.ts';
import { pascalCase } from './operation-id.ts';

type Json = Record<string, unknown>;

/** The member of a body that says which type of event it is of: the one with a fixed value. */
function typeMember({ properties }: Json): string | undefined {
  return Object.entries(isMap(properties) ? properties : {}).find(
    ([, member]) => isMap(member) && 'const' in member,
  )?.[0];
}

/** The schema of the bodies of several types, which differ in the name of the type alone, and what these mean. */
function bodyOf(body: Json, types: readonly string[], meaning = ''): Json {
  const { title: _title, description: _description, additionalProperties: _, ...schema } = body;
  const { properties } = schema;
  const name = typeMember(body);
  if (name === undefined || !isMap(properties)) return schema;
  const { const: _const, ...member } = properties[name] as Json;
  return {
    ...schema,
    properties: { ...properties, [name]: { ...member, enum: types, description: meaning } },
  };
}

/** The types of event with one body each, grouped by what this has beside the name of the type. */
function groupsOf(webhooks: Readonly<Record<string, Webhook>>): string[][] {
  const groups = Map.groupBy(Object.keys(webhooks), (type) =>
    JSON.stringify(bodyOf(webhooks[type]?.body as Json, [])),
  );
  return [...groups.values()];
}

/** Names for the bodies of some types, the shortest first: `WalletEvent`, `WalletCreatedEvent`. */
function nameOf([type = '']: readonly string[], taken: Json): string {
  const words = type.split('.').map(pascalCase);
  const count = words.findIndex((_, index) => !(eventName(words, index + 1) in taken));
  return eventName(words, count + 1);
}

const eventName = (words: readonly string[], count: number): string =>
  `${words.slice(0, count).join('')}Event`;

const bodyName = 'WebhookBody';

/** The one operation that a receiver has to offer: one address gets all types of event. */
const receiving = {
  post: {
    operationId: 'receiveEvent',
    tags: ['Webhooks'],
    summary: 'Receive an event',
    description: 'Sent to every endpoint whose filter takes the type of the event.',
    parameters: parameterReferences(['WebhookId', 'WebhookTimestamp', 'WebhookSignature']),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${bodyName}` } } },
    },
    responses: { '2XX': { $ref: '#/components/responses/Received' } },
  },
} as const;

/** The document with the request that the service sends for an event, and the bodies of all types. */
export function withWebhooks(
  document: object,
  webhooks: Readonly<Record<string, Webhook>>,
): object {
  if (Object.keys(webhooks).length === 0) return document;
  const { components, ...others } = document as { readonly components: { readonly schemas: Json } };
  const bodies: Json = {};
  for (const group of groupsOf(webhooks)) {
    const name = nameOf(group, { ...components.schemas, ...bodies });
    const meaning = group.map((type) => webhooks[type]?.summary).join('; ');
    bodies[name] = bodyOf(webhooks[group[0] ?? '']?.body as Json, group, meaning);
  }
  const oneOf = Object.keys(bodies).map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const schemas = { ...components.schemas, ...bodies, [bodyName]: { oneOf } };
  return {
    ...others,
    webhooks: { event: receiving },
    components: { ...components, schemas },
  };
}
