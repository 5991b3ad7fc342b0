import { rebuild, verify } from '@counterfoil/cli/verify';
import { connect } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('usage');

let stack: Stack;
let tenant: TestTenant;

test.before(async () => {
  stack = await startStack();
  tenant = await stack.tenant('usage');
  await untilUsageIsShown(tenant);
});
test.after(() => stack.stop());

interface Listed {
  readonly id: string;
  readonly customer_id: string | null;
  readonly properties: object;
}

/** The events of an external id, newest first. */
const listed = async (externalId: string): Promise<readonly Listed[]> => {
  const { events } = await tenant.ok('GET', `/events?external_customer_id=${externalId}`);
  return events;
};

const idsOf = async (externalId: string): Promise<readonly string[]> =>
  (await listed(externalId)).map(({ id }) => id);

interface Filling {
  readonly version: number;
  readonly generation: number;
  readonly position: string;
  readonly counted_position: string;
}

/** The filling that readers see. */
async function fillingOf({ databaseUrl }: Pick<Stack, 'databaseUrl'>): Promise<Filling> {
  const connection = await connect(databaseUrl, { application: 'test' });
  try {
    const { rows } = await connection.query<Filling>(
      `select version, generation, position::text, counted_position::text
         from counterfoil.filling where serving and name = 'usage'`,
    );
    const [row] = rows;
    assert.ok(row);
    return row;
  } finally {
    await connection.close();
  }
}

/** Runs a statement on the tables that readers see. */
async function sqlOn(at: Stack, text: string, values: readonly unknown[]) {
  const { version, generation } = await fillingOf(at);
  const schema = `counterfoil_usage_v${version}${generation === 0 ? '' : `_g${generation}`}`;
  const connection = await connect(at.databaseUrl, { application: 'test' });
  try {
    await connection.query(text.replaceAll('SCHEMA', schema), values);
  } finally {
    await connection.close();
  }
}

test('an event is listed by the key that sent it, as it was sent', async () => {
  const event = {
    event_name: 'tokens',
    external_customer_id: 'as-sent',
    event_id: 'as-sent-1',
    timestamp: '2026-01-15T10:00:00.000Z',
    source: 'gateway',
    properties: {
      model: 'large',
      count: 12.5,
      'tab\tand\nline': 'back\\slash',
      nested: { a: [1] },
    },
  };
  const answer = await tenant.call('POST', '/events', event);
  assert.is(answer.status, 202, answer.text);
  assert.equal(answer.body.event_id, 'as-sent-1');
  assert.match(answer.headers.get('Counterfoil-Position') ?? '', /^\d+$/);
  const [seen, ...others] = await listed('as-sent');
  const { event_id, ...fields } = event;
  const environment_id = tenant.environmentId;
  assert.equal(seen, { id: event_id, customer_id: null, environment_id, ...fields } as unknown);
  assert.equal(others, []);
});

test('the same id counts once, and with other contents it is a conflict', async () => {
  const event = { event_name: 'tokens', external_customer_id: 'once', event_id: 'once-1' };
  const at = '2026-02-01T00:00:00.000Z';
  const first = { ...event, timestamp: at, properties: { a: 1, b: 2 } };
  const answers = await Promise.all(
    [first, first, { ...first, properties: { b: 2, a: 1 } }].map((body) =>
      tenant.call('POST', '/events', body),
    ),
  );
  assert.equal(
    answers.map(({ status }) => status),
    [202, 202, 202],
  );
  const repeated = { ...event, properties: { a: 1, b: 2 } };
  assert.is((await tenant.call('POST', '/events', repeated)).status, 202);
  for (const other of [
    { ...first, properties: { a: 2 } },
    { ...first, timestamp: '2026-02-02T00:00:00.000Z' },
  ]) {
    const conflict = await tenant.call('POST', '/events', other);
    assert.is(conflict.status, 409, conflict.text);
    assert.is(conflict.body.code, 'idempotency_conflict');
  }
  assert.equal(await idsOf('once'), ['once-1']);
});

test('a bulk records what is new, counts repetitions and names conflicts', async () => {
  const eventOf = (number: number, value = number) => ({
    event_name: 'tokens',
    external_customer_id: 'bulk',
    event_id: `bulk-${number}`,
    timestamp: `2026-03-01T00:00:0${number}.000Z`,
    properties: { value },
  });
  const first = await tenant.ok('POST', '/events/bulk', {
    events: [1, 2].map((one) => eventOf(one)),
  });
  assert.equal([first.accepted, first.repeated, first.conflicts], [2, 0, []]);
  const events = [eventOf(2), eventOf(3), eventOf(1, 7), eventOf(3), eventOf(3, 8)];
  const second = await tenant.ok('POST', '/events/bulk', { events });
  assert.equal([second.accepted, second.repeated], [1, 2]);
  assert.equal(second.conflicts, [
    { index: 2, event_id: 'bulk-1' },
    { index: 4, event_id: 'bulk-3' },
  ]);
  assert.equal(await idsOf('bulk'), ['bulk-3', 'bulk-2', 'bulk-1']);
});

test('a malformed event refuses the whole bulk and names its place', async () => {
  const good = { event_name: 'tokens', external_customer_id: 'refused', event_id: 'refused-1' };
  const ahead = { ...good, event_id: 'refused-2', timestamp: '2999-01-01T00:00:00.000Z' };
  for (const [bad, pointer] of [
    [{ ...good, event_name: '' }, '/events/1/event_name'],
    [ahead, '/events/1/timestamp'],
  ] as const) {
    const answer = await tenant.call('POST', '/events/bulk', { events: [good, bad] });
    assert.is(answer.status, 400, answer.text);
    assert.is(answer.body.errors[0].pointer, pointer);
  }
  assert.equal(await idsOf('refused'), []);
});

test('a bulk may have as many events and properties as are allowed, long numbers too', async () => {
  const properties = (event: number) =>
    Object.fromEntries(
      Array.from({ length: 100 }, (_, number) => [`p${number}`, number < 20 ? event / 7 : number]),
    );
  const events = Array.from({ length: 1_000 }, (_, number) => ({
    event_name: 'wide',
    external_customer_id: 'wide',
    event_id: `wide-${number}`,
    properties: properties(number),
  }));
  const answer = await tenant.call('POST', '/events/bulk', { events });
  assert.is(answer.status, 202, answer.text.slice(0, 500));
  assert.is(answer.body.accepted, 1_000);
  const [newest] = await listed('wide');
  assert.equal(newest?.properties, properties(Number(newest?.id.slice('wide-'.length))));
});

test('usage belongs to the customer who had the external id when it came, or who comes first', async () => {
  const send = (event_id: string) =>
    tenant.ok('POST', '/events', {
      event_name: 'tokens',
      external_customer_id: 'moving',
      event_id,
    });
  const owners = async () =>
    (await listed('moving')).map(({ id, customer_id }) => [id, customer_id]);
  await send('moving-1');
  assert.equal(await owners(), [['moving-1', null]]);
  const first = await tenant.ok('POST', '/customers', { external_id: 'moving', name: 'First' });
  await eventually(async () => (await owners())[0]?.[1] === first.id);
  await send('moving-2');
  await tenant.ok('PUT', `/customers?id=${first.id}`, { external_id: 'moved' });
  const second = await tenant.ok('POST', '/customers', { external_id: 'moving', name: 'Second' });
  await send('moving-3');
  await eventually(
    async () => (await owners()).find(([id]) => id === 'moving-3')?.[1] === second.id,
  );
  assert.equal(await owners(), [
    ['moving-3', second.id],
    ['moving-2', first.id],
    ['moving-1', first.id],
  ]);
});

test('400 for a place in the list that no page ended with', async () => {
  for (const key of [
    '2024-02-31T00:00:00.000Z.1.1',
    '2024-01-01T00:00:00.000Z.9999999999999999999.1',
  ]) {
    const answers = [
      await tenant.call('GET', `/events?iter_last_key=${key}`),
      await tenant.call('POST', '/events/query', { iter_last_key: key }),
    ];
    for (const { status, body } of answers) {
      assert.equal([status, body.code], [400, 'validation_error']);
    }
  }
});

test('pages follow one another in either order', async () => {
  const events = Array.from({ length: 25 }, (_, number) => ({
    event_name: 'paged',
    external_customer_id: 'paged',
    event_id: `paged-${number}`,
    // Some at one instant: the log orders them.
    timestamp: `2026-04-0${1 + Math.floor(number / 10)}T00:00:00.000Z`,
    properties: { parity: String(number % 2) },
  }));
  await tenant.ok('POST', '/events/bulk', { events });
  for (const order of ['asc', 'desc'] as const) {
    const seen: string[] = [];
    let iter_last_key: string | undefined;
    for (;;) {
      const body = {
        event_name: 'paged',
        page_size: 10,
        order,
        ...(iter_last_key ? { iter_last_key } : {}),
      };
      const page = await tenant.ok('POST', '/events/query', body);
      seen.push(...page.events.map(({ id }: Listed) => id));
      if (!page.has_more) break;
      iter_last_key = page.iter_last_key;
    }
    const expected = events.map(({ event_id }) => event_id);
    assert.equal(seen, order === 'asc' ? expected : expected.reverse());
  }
  const odd = await tenant.ok('POST', '/events/query', {
    event_name: 'paged',
    property_filters: { parity: ['1'] },
  });
  assert.is(odd.events.length, 12);
});

test('nobody sees the usage of another tenant', async () => {
  const other = await stack.tenant('usage-other');
  await tenant.ok('POST', '/events', {
    event_name: 'tokens',
    external_customer_id: 'walled',
    event_id: 'walled-1',
  });
  assert.equal(await idsOf('walled'), ['walled-1']);
  const { events } = await other.ok('GET', '/events?external_customer_id=walled');
  assert.equal(events, []);
  const same = await other.call('POST', '/events', {
    event_name: 'other',
    external_customer_id: 'walled',
    event_id: 'walled-1',
  });
  assert.is(same.status, 202, 'ids are unique in an environment, not beyond');
});

test('usage is counted by name, in windows of a zone, and as the property filters say', async () => {
  const event = (event_id: string, timestamp: string, count: unknown, model = 'large') => ({
    event_name: 'counted',
    external_customer_id: 'counted',
    event_id: `counted-${event_id}`,
    timestamp,
    properties: { count, model },
  });
  await tenant.ok('POST', '/events/bulk', {
    events: [
      // In Berlin these two are on different days.
      event('1', '2026-06-01T21:59:59.999Z', '0.1'),
      event('2', '2026-06-01T22:00:00.000Z', 0.2),
      event('3', '2026-06-03T10:00:00.000Z', 5, 'small'),
      event('4', '2026-06-03T11:00:00.000Z', 'many'),
    ],
  });
  const ask = (question: object) =>
    tenant.ok('POST', '/events/usage', {
      event_name: 'counted',
      external_customer_id: 'counted',
      aggregation_type: 'SUM',
      property_name: 'count',
      start_time: '2026-06-01T00:00:00Z',
      end_time: '2026-07-01T00:00:00Z',
      ...question,
    });
  const whole = await ask({});
  assert.equal([whole.total_value, whole.value], ['5.3', 5.3]);
  assert.is((await ask({ filters: { model: ['large'] } })).total_value, '0.3');
  const { results } = await ask({ window_size: 'DAY', timezone: 'Europe/Berlin' });
  assert.equal(
    results.map((one: { window_size: string; total_value: string }) => [
      one.window_size,
      one.total_value,
    ]),
    [
      ['2026-05-31T22:00:00.000Z', '0.1'],
      ['2026-06-01T22:00:00.000Z', '0.2'],
      ['2026-06-02T22:00:00.000Z', '5'],
    ],
  );
  const filled = await ask({ window_size: 'DAY', fill: true });
  assert.is(filled.results.length, 30);
  const refused = await tenant.call('POST', '/events/usage', {
    event_name: 'counted',
    aggregation_type: 'SUM',
  });
  assert.is(refused.status, 400);
  assert.is(refused.body.errors[0].pointer, '/property_name', refused.text);
});

test('a meter that is created later counts what came before it', async () => {
  const { id: customer_id } = await tenant.ok('POST', '/customers', {
    external_id: 'metered',
    name: 'Metered',
  });
  const events = [60, 61, 1].map((seconds, index) => ({
    event_name: 'calls',
    external_customer_id: 'metered',
    event_id: `metered-${index}`,
    properties: { seconds, model: index === 2 ? 'small' : 'large' },
  }));
  await tenant.ok('POST', '/events/bulk', { events });
  const { id: meter_id } = await tenant.ok('POST', '/meters', {
    name: 'Minutes',
    event_name: 'calls',
    aggregation: { type: 'SUM', expression: 'ceil(seconds / 60)' },
    filters: [{ key: 'model', values: ['large'] }],
  });
  const used = await eventually(async () => {
    const answer = await tenant.ok('POST', '/events/usage/meter', { meter_id, customer_id });
    return answer.total_value === '0' ? false : answer;
  });
  assert.equal([used.total_value, used.type, used.event_name], ['3', 'SUM', 'calls']);
});

test('the tables are what the log says, also after they were filled again', async () => {
  const lines: string[] = [];
  const shown = () => lines.filter((line) => line.startsWith('usage:'));
  assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
  await rebuild(stack, ['usage']);
  assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
  assert.match(
    shown().join('\n'),
    /^usage: [1-9]\d* rows, 0 differences.*\nusage: [1-9]\d* rows, 0 /,
  );
  await sqlOn(stack, 'delete from SCHEMA.event where event_id = $1', ['once-1']);
  assert.not(await verify(stack, (line) => lines.push(line)));
  assert.match(lines.join('\n'), /^usage event_\d{4}_\d\d: the log has a row more.*once-1/m);
  await sqlOn(stack, 'drop table SCHEMA.event_2026_01', []);
  lines.length = 0;
  assert.not(await verify(stack, (line) => lines.push(line)));
  assert.match(lines.join('\n'), /^usage event_2026_01: the log has a row more/m);
  await sqlOn(stack, 'update SCHEMA.hourly set total = total + $1', ['0.1']);
  lines.length = 0;
  assert.not(await verify(stack, (line) => lines.push(line)));
  assert.match(lines.join('\n'), /^usage hourly: the log has a row more/m);
  await rebuild(stack, ['usage']);
  assert.ok(await verify(stack, (line) => lines.push(line)));
});

test('a position that recording named can be asked for wherever something is read', async () => {
  const sent = await tenant.call('POST', '/events', {
    event_name: 'tokens',
    external_customer_id: 'positioned',
    event_id: 'positioned-1',
  });
  const position = { 'Counterfoil-Min-Position': sent.headers.get('Counterfoil-Position') ?? '' };
  const reads: readonly (readonly [string, string])[] = [
    ['GET', '/events?external_customer_id=positioned'],
    ['GET', '/customers'],
  ];
  for (const [method, path] of reads) {
    const answer = await tenant.call(method, path, undefined, position);
    assert.is(answer.status, 200, `${path}: ${answer.text}`);
  }
});

test('usage can be asked for from the position of a write that is none of its own', async () => {
  const { id: customer_id } = await tenant.ok('POST', '/customers', {
    external_id: 'elsewhere',
    name: 'Elsewhere',
  });
  const body = { customer_id, currency: 'usd' };
  const written = await tenant.call('POST', '/wallets', body);
  const position = written.headers.get('Counterfoil-Position') ?? '';
  const minimum = (text: string) => ({ 'Counterfoil-Min-Position': text });
  const answer = await tenant.call('GET', '/events', undefined, minimum(position));
  assert.is(answer.status, 200, answer.text);
  assert.ok(BigInt(answer.headers.get('Counterfoil-Position') ?? '') >= BigInt(position));
  const beyond = minimum(String(BigInt(position) + 10n ** 9n));
  assert.is((await tenant.call('GET', '/events', undefined, beyond)).status, 400);
});

test('a wallet is followed without a change of what usage counts as', async () => {
  const places = async () => {
    const { position, counted_position } = await fillingOf(stack);
    return [BigInt(position), BigInt(counted_position)] as const;
  };
  const until = (text: string | null) =>
    eventually(async () => {
      const found = await places();
      return found[0] >= BigInt(text ?? '') && found;
    });
  const { id: customer_id } = await tenant.ok('POST', '/customers', {
    external_id: 'aside',
    name: 'Aside',
  });
  const [, before] = await places();
  const wallet = await tenant.call('POST', '/wallets', { customer_id, currency: 'usd' });
  const [followed, counted] = await until(wallet.headers.get('Counterfoil-Position'));
  assert.ok(counted < followed);
  assert.ok(counted >= before);
  const event = { event_name: 'tokens', external_customer_id: 'aside', event_id: 'aside-1' };
  const used = await tenant.call('POST', '/events', event);
  const [, since] = await until(used.headers.get('Counterfoil-Position'));
  assert.ok(since >= BigInt(used.headers.get('Counterfoil-Position') ?? ''));
});

test('what was acknowledged is counted once, whatever is away meanwhile', async () => {
  const send = (number: number) =>
    tenant.call('POST', '/events', {
      event_name: 'tokens',
      external_customer_id: 'away',
      event_id: `away-${number}`,
      timestamp: '2026-05-01T00:00:00.000Z',
    });
  await stack.parts.postgres.stop();
  assert.is((await send(1)).status, 202, 'PostgreSQL is not needed to record');
  await stack.parts.postgres.start();
  await stack.parts.projector.stop();
  assert.is((await send(2)).status, 202);
  await stack.parts.projector.start();
  assert.is((await send(1)).status, 202);
  const ids = await eventually(async () => {
    const answer = await tenant.call('GET', '/events?external_customer_id=away');
    return answer.status === 200 && answer.body.events.length >= 2 && answer.body.events;
  });
  assert.equal(
    ids.map(({ id }: Listed) => id),
    ['away-2', 'away-1'],
  );
});

test.run();
