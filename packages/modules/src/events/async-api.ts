import { bodySchema, type EventTypes } from './event-type.ts';

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

/**
 * The AsyncAPI 3.0 document of the messages that the relay publishes on NATS, made from the public
 * events of the modules alone. `subjects` are where it is published: the prefix of the stream and
 * that of the live subjects.
 */
export function asyncApiDocument(
  types: EventTypes,
  info: { readonly title: string; readonly version: string },
  subjects: { readonly stored: string; readonly live: string },
): object {
  const names = [...types.keys()];
  const channel = (prefix: string, name: string) => ({
    address: addressOf(prefix, name),
    parameters,
    messages: { [keyOf(name)]: { $ref: `#/components/messages/${keyOf(name)}` } },
  });
  const operation = (kind: 'stored' | 'live', name: string) => ({
    action: 'receive',
    channel: { $ref: `#/channels/${kind}_${keyOf(name)}` },
    summary: types.get(name)?.summary,
  });
  const kinds = ['stored', 'live'] as const;
  return {
    asyncapi: '3.0.0',
    info: {
      ...info,
      description:
        'Public events on NATS. Stored subjects are read from the JetStream stream BILLING, at ' +
        'least once and in order; live subjects are for plain subscribers, at most once.',
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      kinds.flatMap((kind) =>
        names.map((name) => [`${kind}_${keyOf(name)}`, channel(subjects[kind], name)]),
      ),
    ),
    operations: Object.fromEntries(
      kinds.flatMap((kind) =>
        names.map((name) => [`receive_${kind}_${keyOf(name)}`, operation(kind, name)]),
      ),
    ),
    components: {
      messages: Object.fromEntries(
        [...types].map(([name, type]) => [
          keyOf(name),
          {
            name,
            title: type.summary,
            contentType: 'application/json',
            headers: { $ref: '#/components/schemas/headers' },
            payload: bodySchema(name, type),
          },
        ]),
      ),
      schemas: { headers },
    },
  };
}
