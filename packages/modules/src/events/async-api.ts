import {
  livePrefix,
  publicStream,
  publicSubjects,
  sendingSubject,
} from '@counterfoil/engine/define';
import { usageIntake } from '../usage/index.ts';
import type { EventTypes } from './event-type.ts';
import { publishedBodies } from './published-bodies.ts';

const parameters = {
  tenant_id: { description: 'Id of the tenant' },
  environment_id: { description: 'Id of the environment; `-` for records of the whole tenant' },
  resource_id: { description: 'Id of the record that the event is about' },
};

const header = (description: string) => ({ type: 'string', description });

const headers = {
  type: 'object',
  description: 'CloudEvents 1.0 in binary mode, and the place of the event in the log',
  properties: {
    'Nats-Msg-Id': header('Id of the event, the same for ever; also in ce-id'),
    'ce-specversion': header('1.0'),
    'ce-id': header('Id of the event'),
    'ce-type': header('Type of the event'),
    'ce-source': header('/tenants/{tenant_id}/environments/{environment_id}'),
    'ce-subject': header('Id of the record'),
    'ce-time': header('When it happened, RFC 3339'),
    'ce-dataschema': header('Where the JSON Schema of the body is served'),
    'Billing-Position': header('Position in the log; comparable with Counterfoil-Position'),
    'Billing-Index': header("Which of the change's messages this is, from 0"),
    'Billing-Count': header('How many messages the change has'),
    'Billing-Stream': header("The record's stream in the log"),
    'Billing-Revision': header('Revision of the event in that stream'),
    'Billing-Correlation': header('Id of the request that caused it'),
    'Billing-Causation': header('What led to it directly'),
  },
} as const;

/** The name of a type where dots are not allowed. */
const keyOf = (type: string): string => type.replaceAll('.', '_');

/** `customer.created` → `{prefix}.{tenant}.{environment}.customer.{id}.created`. */
function addressOf(prefix: string, type: string): string {
  const [resource = '', ...tail] = type.split('.');
  return `${prefix}.{tenant_id}.{environment_id}.${resource}.{resource_id}.${tail.join('.')}`;
}

const security = {
  password: {
    type: 'userPassword',
    description: 'The user and password of the installation, where its NATS asks for them',
  },
  credentials: {
    type: 'asymmetricEncryption',
    description:
      'A user JWT with the key that signs the challenge of the server: the credentials file of ' +
      '`POST /v1/feed/subscriptions/{id}/credentials` or, to send usage, `POST /v1/usage/credentials`',
  },
} as const;

/** A server by its host and port, which every installation chooses. */
const server = (description: string, port: string, scheme: keyof typeof security) => ({
  host: '{host}:{port}',
  protocol: 'nats',
  description,
  variables: { host: { default: 'localhost' }, port: { default: port } },
  security: [{ $ref: `#/components/securitySchemes/${scheme}` }],
});

const servers = {
  nats: server('NATS with JetStream, inside the installation', '4222', 'password'),
  gateway: server(
    'The event gateway for systems outside: each reads its own consumer and live subjects, or sends to its own subject, only',
    '4223',
    'credentials',
  ),
} as const;

const stored = publicSubjects.replace('.>', '');

/** The ways to a message: the prefix of its subjects, and the reach of its channel. */
const kinds = {
  stored: { prefix: stored, description: `Kept in the stream ${publicStream}: at least once` },
  live: { prefix: `${livePrefix}.${stored}`, description: 'For those listening: at most once' },
} as const;
type Kind = keyof typeof kinds;

const messageReference = (type: string) => ({ $ref: `#/components/messages/${keyOf(type)}` });

const channel = (kind: Kind, type: string) => ({
  address: addressOf(kinds[kind].prefix, type),
  description: kinds[kind].description,
  parameters: parameterReferences(Object.keys(parameters)),
  messages: { [keyOf(type)]: messageReference(type) },
});

const operation = (kind: Kind, type: string, summary: string) => ({
  action: 'receive',
  channel: { $ref: `#/channels/${kind}_${keyOf(type)}` },
  summary,
});

const environmentParameters = ['tenant_id', 'environment_id'] as const;

const parameterReferences = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/parameters/${name}` }]));

/** A value that the OpenAPI document describes, by the names of its schemas there. */
const openApiValue = (...names: readonly string[]) => ({
  type: 'object',
  description: `${names.join(' or ')} of the OpenAPI document`,
});

/** Usage, the one thing that systems outside send, and the answer to it. */
const sentUsage = {
  channels: {
    usage: {
      address: sendingSubject(usageIntake.name, {
        tenantId: 'TENANT',
        environmentId: 'ENVIRONMENT',
      })
        .replace('TENANT', '{tenant_id}')
        .replace('ENVIRONMENT', '{environment_id}'),
      description: 'Answered on the reply subject of the message when the usage is durable',
      servers: [{ $ref: '#/servers/gateway' }],
      parameters: parameterReferences(environmentParameters),
      messages: { usage: { $ref: '#/components/messages/usage' } },
    },
    usage_answers: {
      address: null,
      description: 'The reply subject that the sender names',
      servers: [{ $ref: '#/servers/gateway' }],
      messages: { usage_answer: { $ref: '#/components/messages/usage_answer' } },
    },
  },
  operations: {
    send_usage: {
      action: 'send',
      channel: { $ref: '#/channels/usage' },
      summary: 'Record usage: one event, or up to 1,000',
      reply: { channel: { $ref: '#/channels/usage_answers' } },
    },
  },
  messages: {
    usage: {
      name: 'usage',
      title: 'Usage to be recorded',
      contentType: 'application/json',
      headers: {
        type: 'object',
        properties: {
          'Idempotency-Key': header('As over HTTP, for an event without event_id'),
          Prefer: header('handling=lenient: members that nobody knows are ignored'),
        },
      },
      payload: openApiValue('IngestedEvent', 'IngestedEvents'),
    },
    usage_answer: {
      name: 'usage_answer',
      title: 'What HTTP would have answered',
      contentType: 'application/json',
      payload: {
        type: 'object',
        required: ['status', 'body'],
        properties: {
          status: { type: 'integer', description: 'Status of HTTP; 202 when it is durable' },
          position: { type: 'string', description: 'Counterfoil-Position' },
          retry_after: { type: 'integer', description: 'Retry-After, in seconds' },
          body: openApiValue('Ingestion', 'BulkIngestion', 'Problem'),
        },
      },
    },
  },
};

/**
 * The AsyncAPI 3.0 document of the messages that the relay publishes on NATS, made from the public
 * events of the modules alone, and of the usage that is sent there.
 */
export function asyncApiDocument(types: EventTypes, version: string): object {
  const { bodies, schemas } = publishedBodies(types);
  const messages = Object.entries(bodies).map(([name, { summary, body }]) => [
    keyOf(name),
    {
      name,
      title: summary,
      contentType: 'application/json',
      headers: { $ref: '#/components/schemas/headers' },
      payload: body,
    },
  ]);
  const ofEach = <Part>(part: (kind: Kind, name: string, summary: string) => [string, Part]) =>
    Object.fromEntries(
      (['stored', 'live'] as const).flatMap((kind) =>
        [...types].map(([name, { summary }]) => part(kind, name, summary)),
      ),
    );
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Counterfoil events',
      version,
      description:
        `Public events on NATS. Stored subjects are read from the JetStream stream ${publicStream}, ` +
        'at least once and in order; live subjects are for plain subscribers, at most once. Usage is ' +
        'sent to a subject of its own, and answered.',
    },
    defaultContentType: 'application/json',
    servers,
    channels: {
      ...ofEach((kind, name) => [`${kind}_${keyOf(name)}`, channel(kind, name)]),
      ...sentUsage.channels,
    },
    operations: {
      ...ofEach((kind, name, summary) => [
        `receive_${kind}_${keyOf(name)}`,
        operation(kind, name, summary),
      ]),
      ...sentUsage.operations,
    },
    components: {
      messages: { ...Object.fromEntries(messages), ...sentUsage.messages },
      parameters,
      schemas: { headers, ...schemas },
      securitySchemes: security,
    },
  };
}
