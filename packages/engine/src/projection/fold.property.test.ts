import type { Stamp } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { StoredEvent } from '../log/types.ts';
import { Batch, foldSteps, planSteps, type Rows } from './fold.ts';
import { additions, type allTables, counters, labels } from './test-counters.ts';

const test = suite('fold');

const labelPicker = fc.constantFrom('a', 'b', 'fleeting');
const moves = fc.oneof(
  fc.record({
    type: fc.constant('Opened'),
    data: fc.record({
      name: fc.string(),
      labels: fc.array(labelPicker, { maxLength: 3 }),
      metadata: fc.constant({}),
    }),
  }),
  fc.record({ type: fc.constant('Added'), data: fc.record({ amount: fc.integer() }) }),
  fc.record({
    type: fc.constantFrom(
      'Archived',
      'Deleted',
      'ClaimRevoked',
      'ReferenceClaimed',
      'RequestRefused',
      'RequestWithoutEffect',
    ),
    data: fc.constant({}),
  }),
);

const stream = fc
  .constantFrom('env_1', 'env_2')
  .chain((environment) =>
    fc.constantFrom('x', 'y').map((id) => ({ environment, name: `counter-${environment}.${id}` })),
  );

const events = fc
  .array(fc.tuple(stream, moves), { maxLength: 60 })
  .map((given) =>
    given.map(([{ environment, name }, { type, data }], index) =>
      stored(name, environment, index, type, data),
    ),
  );

function stored(
  name: string,
  environment: string | null,
  index: number,
  type: string,
  data: unknown,
): StoredEvent {
  const occurred = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
  return {
    id: `event_${index}`,
    type,
    data,
    stream: name,
    revision: index,
    position: BigInt(index + 1),
    metadata: {
      tenant_id: 'tenant_1',
      environment_id: environment,
      actor: { user_id: null, key_id: null },
      occurred_at: occurred as Stamp['occurred_at'],
      schema_version: 1,
      $correlationId: 'c',
      $causationId: 'c',
      hash: `hash_${index}`,
    },
  };
}

/** The rows that events change. */
const foldedRows = (
  table: (typeof allTables)[number],
  events: readonly StoredEvent[],
  before: Rows = new Map(),
): Rows => {
  const steps = planSteps(table, new Batch(events).eventsFor(table));
  return foldSteps(table, steps, (key) => before.get(key) ?? null);
};

/** Rows after folding in batches of these sizes; each batch sees its predecessors' rows as JSON. */
function foldedIn(
  table: (typeof allTables)[number],
  all: readonly StoredEvent[],
  sizes: readonly number[],
): unknown {
  const rows: Rows = new Map();
  let start = 0;
  for (let turn = 0; start < all.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    const changed = foldedRows(table, all.slice(start, end), rows);
    for (const [key, row] of changed) {
      if (row) rows.set(key, JSON.parse(JSON.stringify(row)));
      else rows.delete(key);
    }
    start = end;
  }
  return Object.fromEntries([...rows].sort(([left], [right]) => (left < right ? -1 : 1)));
}

test('any way of cutting the log into batches gives the same rows', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(events, sizes, sizes, (all, some, others) => {
      for (const table of [counters, additions, labels]) {
        assert.equal(foldedIn(table, all, some), foldedIn(table, all, others));
      }
    }),
  );
});

test('a row never changes its tenant, and never lacks its environment', () => {
  const first = stored('counter-env_1.x', 'env_1', 0, 'Added', { amount: 1 });
  const foreign = stored('counter-env_1.x', 'env_1', 1, 'Added', { amount: 1 });
  const moved = { ...foreign, metadata: { ...foreign.metadata, tenant_id: 'tenant_2' } };
  const homeless = stored('counter-env_1.x', null, 1, 'Added', { amount: 1 });
  for (const [second, message] of [
    [moved, /belongs to another tenant/],
    [homeless, /has no environment/],
  ] as const) {
    assert.throws(() => foldedRows(counters, [first, second]), message);
  }
});

test.run();
