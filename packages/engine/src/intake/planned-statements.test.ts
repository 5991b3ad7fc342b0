import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FactTables, factStatement } from '../define/intake.ts';
import { type FactReadsOptions, factReads, RecentFacts } from './fact-reads.ts';

const test = suite('sessions of statements on facts');

interface Tables {
  drop: { readonly litres: number };
}

const tables = { name: 'rain' } as FactTables<Tables>;
const more = factStatement(tables, (from, given: { readonly than: number }) =>
  from.selectFrom('drop').selectAll().where('litres', '>', given.than),
);

/** Reads of tables that have everything, and what was sent for them in which sessions. */
function watched() {
  const sent: object[] = [];
  const pool = (sessions: string) => ({
    query: async (_: object, { name, text, values }: Readonly<Record<string, unknown>>) => {
      sent.push({ sessions, isNamed: name !== undefined, text, values });
      return { rows: [], count: 0 };
    },
  });
  const tracker = { schemaOf: () => 'rain_v1', reached: () => ({ position: () => 7n }) };
  const side = {
    pool: pool('any'),
    prepared: pool('prepared'),
    tracker,
    recent: new RecentFacts(),
    stretches: { isBlank: () => Promise.resolve(true) },
  };
  const caller = { tenantId: 'tenant', environmentId: 'environment', keyId: 'key' };
  const options = { side, caller, store: {}, minimumPosition: null, onRead: () => undefined };
  return { sent, reads: factReads(options as unknown as FactReadsOptions) };
}

const text = 'select * from "rain_v1"."drop" where "litres" > $1';

test('a statement is kept prepared in sessions of its kind, unless it is to be planned for its values', async () => {
  const { sent, reads } = watched();
  await reads.ask(more, { than: 1 });
  await reads.ask(more, { than: 2 }, 'for these values');
  assert.equal(sent, [
    { sessions: 'prepared', isNamed: true, text, values: [1] },
    { sessions: 'any', isNamed: false, text, values: [2] },
  ]);
});

test.run();
