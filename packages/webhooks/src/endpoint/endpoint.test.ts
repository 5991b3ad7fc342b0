import { randomBytes } from 'node:crypto';
import { type Instant, instantOf, Problem, type Stamp, type TenantId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { endpointTable } from '../projection.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  type NewEndpoint,
  reportExhausted,
  rotateSecret,
} from './decisions.ts';
import {
  type EndpointDecision,
  type EndpointEvent,
  type EndpointState,
  sealingContext,
  webhookEndpoint,
} from './endpoint.ts';
import { endpointPublicEvents } from './public-events.ts';
import { endpointResource, endpointSchema } from './schema.ts';
import { createSealer } from './sealing.ts';

const test = suite('webhook endpoint');

const sealer = createSealer(randomBytes(32).toString('base64'));
const id = 'webhook_01KA0000000000000000000000';
const start = instantOf(Date.parse('2026-11-21T00:00:00Z'));
const later = instantOf(Date.parse('2026-11-22T00:00:00Z'));
const never = () => false;

const stamp = (at: Instant): Stamp => ({
  tenant_id: 'tenant_1' as TenantId,
  environment_id: null,
  occurred_at: at,
  actor: { user_id: null, key_id: null },
});

const fresh: NewEndpoint = {
  id,
  url: 'https://example.com/hook',
  description: null,
  event_types: ['invoice.*'],
  enabled: true,
  order_mode: 'resource_fifo',
  order_guard_seconds: 300,
  max_in_flight: 8,
  rate_limit_per_second: null,
  payload: 'full',
  signature: 'hmac',
  headers: null,
  metadata: { team: 'billing' },
  secret: sealer.seal('whsec_x', sealingContext(id, 'secret')),
};

/** The state after some decisions, and the types of the events they led to. */
function after(...decisions: readonly EndpointDecision[]) {
  let state: EndpointState = webhookEndpoint.initial;
  const types: string[] = [];
  const events: EndpointEvent[] = [];
  decisions.forEach((decision, index) => {
    const at = index === 0 ? start : later;
    for (const event of decision(state, at)) {
      const data = webhookEndpoint.events[event.type].parse(event.data);
      assert.equal(data, event.data, 'the event is what its schema says');
      state = webhookEndpoint.evolve(state, { ...event, stamp: stamp(at) });
      types.push(event.type);
      events.push(event);
    }
  });
  return { state, types, events };
}

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return 'nothing';
  } catch (error) {
    assert.instance(error, Problem);
    return (error as Problem).code;
  }
};

test('a new endpoint is published with what was asked for', () => {
  const { state, types } = after(createEndpoint(fresh));
  assert.equal(types, ['WebhookEndpointCreated']);
  assert.equal(state, {
    ...fresh,
    status: 'published',
    disabled_reason: null,
    disabled_at: null,
    enabled_at: start,
    former_secrets: [],
    last_report: null,
    tenant_id: 'tenant_1',
    environment_id: '',
    created_at: start,
    created_by: 'system',
    updated_at: start,
    updated_by: 'system',
  });
});

test('an id can be used once', () => {
  assert.is(
    codeOf(() => after(createEndpoint(fresh), createEndpoint(fresh))),
    'already_exists',
  );
});

test('it can be created disabled', () => {
  const { state } = after(createEndpoint({ ...fresh, enabled: false }));
  assert.is(state?.enabled, false);
  assert.is(state?.disabled_reason, 'by_request');
});

test('a change records what differs and nothing else', () => {
  const change = { url: fresh.url, description: 'new', metadata: { team: 'billing' } };
  const { state, types, events } = after(createEndpoint(fresh), changeEndpoint(id, change, never));
  assert.equal(types, ['WebhookEndpointCreated', 'WebhookEndpointChanged']);
  assert.equal(events[1]?.data, { description: 'new' });
  assert.is(state?.description, 'new');
  assert.equal(state?.event_types, ['invoice.*'], 'what is left out stays');
  assert.is(state?.updated_at, later);
  assert.is(state?.created_at, start);
});

test('a change to what it already is leads to no event', () => {
  const change = { url: fresh.url, event_types: ['invoice.*'], enabled: true };
  const { types } = after(createEndpoint(fresh), changeEndpoint(id, change, never));
  assert.equal(types, ['WebhookEndpointCreated']);
});

test('null clears the filter and the head-of-line time-out', () => {
  const change = { event_types: null, order_guard_seconds: null };
  const { state } = after(createEndpoint(fresh), changeEndpoint(id, change, never));
  assert.is(state?.event_types, null);
  assert.is(state?.order_guard_seconds, null);
});

test('headers that are the same under another seal are no change', () => {
  const seal = () => ({ names: ['A'], sealed: sealer.seal('{}', sealingContext(id, 'headers')) });
  const withHeaders = createEndpoint({ ...fresh, headers: seal() });
  const same = after(
    withHeaders,
    changeEndpoint(id, { headers: seal() }, () => true),
  );
  assert.is(same.types.length, 1);
  const other = seal();
  const differing = after(withHeaders, changeEndpoint(id, { headers: other }, never));
  assert.equal(differing.state?.headers, other);
  const untouched = after(withHeaders, changeEndpoint(id, { description: 'x' }, never));
  assert.equal(untouched.events[1]?.data, { description: 'x' });
});

test('enabling and disabling are events only when something changes', () => {
  const { state, types } = after(
    createEndpoint(fresh),
    enableEndpoint(id),
    disableEndpoint(id, 'by_request'),
    disableEndpoint(id, 'by_request'),
    changeEndpoint(id, { enabled: true }, never),
  );
  assert.equal(types, [
    'WebhookEndpointCreated',
    'WebhookEndpointDisabled',
    'WebhookEndpointEnabled',
  ]);
  assert.is(state?.enabled, true);
  assert.is(state?.disabled_reason, null);
});

test('a deleted endpoint is gone for every further command', () => {
  const created = createEndpoint(fresh);
  const { state } = after(created, deleteEndpoint(id));
  assert.is(state?.status, 'deleted');
  assert.is(state?.enabled, false);
  for (const decision of [
    deleteEndpoint(id),
    enableEndpoint(id),
    disableEndpoint(id, 'by_request'),
    changeEndpoint(id, { description: 'x' }, never),
  ]) {
    assert.is(
      codeOf(() => after(created, deleteEndpoint(id), decision)),
      'not_found',
    );
    assert.is(
      codeOf(() => after(decision)),
      'not_found',
      'before it exists',
    );
  }
});

test('the resource shows neither the secret nor header values', () => {
  const headers = { names: ['Authorization'], sealed: sealer.seal('{}', 'x') };
  const { state } = after(createEndpoint({ ...fresh, headers }));
  assert.ok(state);
  const resource = endpointResource(state);
  assert.equal(endpointSchema.parse(resource), resource);
  assert.equal(resource.header_names, ['Authorization']);
  assert.not.ok(JSON.stringify(resource).includes('ciphertext'));
});

test('the read table keeps the position of the creation', () => {
  const { events } = after(createEndpoint(fresh), deleteEndpoint(id));
  const rows = events.reduce<Parameters<typeof endpointTable.view>[0] | null>(
    (row, event, revision) =>
      endpointTable.fold(
        row,
        {
          ...event,
          stamp: stamp(start),
          aggregate: webhookEndpoint.name,
          event_id: `event-${revision}`,
          aggregate_id: id,
          revision,
          position: String(100 + revision),
        },
        id,
      ),
    null,
  );
  assert.is(rows?.created_position, '100');
  assert.is(rows && endpointTable.view(rows).status, 'deleted');
});

const sealed = (text: string) => sealer.seal(text, sealingContext(id, 'secret'));
const rotate = (text: string, graceSeconds: number) =>
  rotateSecret(id, { secret: sealed(text), signature: 'hmac', graceSeconds });

test('after a rotation the former secret signs until its time is over', () => {
  const { state } = after(createEndpoint(fresh), rotate('second', 3_600), rotate('third', 7_200));
  const open = (secret: NewEndpoint['secret']) => sealer.open(secret, sealingContext(id, 'secret'));
  assert.ok(state);
  assert.is(open(state.secret), 'third');
  assert.equal(
    state.former_secrets.map(({ secret, until }) => [open(secret), until]),
    [
      ['second', '2026-11-22T02:00:00.000Z'],
      ['whsec_x', '2026-11-22T01:00:00.000Z'],
    ],
  );
});

test('a rotation without grace ends the former secret at once', () => {
  const { state } = after(createEndpoint(fresh), rotate('second', 0));
  assert.equal(state?.former_secrets, []);
});

test('at most five former secrets sign', () => {
  const rotations = Array.from({ length: 8 }, (_, index) => rotate(`secret ${index}`, 3_600));
  assert.is(after(createEndpoint(fresh), ...rotations).state?.former_secrets.length, 5);
});

test('what the service has disabled cannot be enabled within the next minute', () => {
  const { state } = after(createEndpoint(fresh), disableEndpoint(id, 'failing'));
  assert.equal([state?.disabled_reason, state?.disabled_at], ['failing', later]);
  const enableAfter = (milliseconds: number) =>
    codeOf(() => enableEndpoint(id)(state, instantOf(Date.parse(later) + milliseconds)));
  assert.is(enableAfter(59_999), 'invalid_operation');
  assert.is(enableAfter(60_000), 'nothing');
  const own = after(createEndpoint(fresh), disableEndpoint(id, 'by_request'));
  assert.equal(enableEndpoint(id)(own.state, later), [
    { type: 'WebhookEndpointEnabled', data: {} },
  ]);
});

test('enabling begins a new era of its health', () => {
  const enabling = [createEndpoint({ ...fresh, enabled: false }), enableEndpoint(id)];
  const { state } = after(...enabling);
  assert.is(state?.enabled_at, later);
  assert.equal([state?.disabled_at, state?.disabled_reason], [null, null]);
});

test('a report of given up deliveries is written once and changes nothing else', () => {
  const messages = [
    {
      message_id: 'evt_1',
      event_type: 'customer.updated',
      resource_id: 'cust_1',
      attempts: 11,
      status_code: 500,
      error: null,
    },
  ];
  const reported = after(
    createEndpoint(fresh),
    reportExhausted(id, '9', messages),
    reportExhausted(id, '9', messages),
    reportExhausted(id, '10', messages),
  );
  assert.equal(reported.types.slice(1), ['WebhookMessagesExhausted', 'WebhookMessagesExhausted']);
  assert.is(reported.state?.updated_at, start);
  assert.is(reported.state?.last_report, '10');
});

test('disabling and giving up are published, the rest is nobody else to know', () => {
  const { state } = after(createEndpoint(fresh), disableEndpoint(id, 'failing'));
  const publish = (event: EndpointEvent) =>
    endpointPublicEvents.publish(
      { event: { ...event, stamp: stamp(later) }, before: state, after: state } as never,
      {},
    );
  const [disabled] = publish({ type: 'WebhookEndpointDisabled', data: { reason: 'failing' } });
  assert.equal([disabled?.type, disabled?.resourceId], ['endpoint.disabled', id]);
  assert.equal(disabled?.body, { endpoint: state && endpointResource(state) });
  assert.not.ok(JSON.stringify(disabled).includes('ciphertext'));
  const message = {
    message_id: 'evt_1',
    event_type: 'customer.updated',
    resource_id: 'cust_1',
    attempts: 11,
    status_code: null,
    error: 'time_out',
  };
  const reports = publish({
    type: 'WebhookMessagesExhausted',
    data: { report: '1', messages: [message, { ...message, message_id: 'evt_2' }] },
  });
  assert.equal(
    reports.map(({ type, resourceId }) => [type, resourceId]),
    [
      ['message.exhausted', 'evt_1'],
      ['message.exhausted', 'evt_2'],
    ],
  );
  assert.equal(publish({ type: 'WebhookEndpointEnabled', data: {} }), []);
});

test.run();
