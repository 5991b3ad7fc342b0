import type { Instant } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as assert from 'uvu/assert';
import type { KeptDefinition } from '../groupings/usage-grouping.ts';
import { comparedUsage } from '../table-definitions.ts';
import type { UsageQuestion } from '../usage-question.ts';
import type { StoredUsage } from './test-fold.ts';
import { type LogItem, recordedIn } from './test-histories.ts';
import type { TestTables } from './test-tables.ts';

/** The events that count, in the order of their time. */
export async function storedIn({ session }: TestTables): Promise<readonly StoredUsage[]> {
  const { schema } = session;
  const { rows } = await session.query<Omit<StoredUsage, 'properties'> & { properties: string }>(
    `select name.name as event_name, external_id, customer_id, at, properties
       from ${schema}.event
       join ${schema}.account on account.number = event.account
       join ${schema}.event_name as name on name.number = event.name
      order by at, position, event.number`,
  );
  return rows.map((row) => ({ ...row, properties: JSON.parse(row.properties ?? '{}') }));
}

/** Asserts that two fillings of one log say the same. */
export async function assertSame(some: TestTables, others: TestTables): Promise<void> {
  const [left, right] = [some.session.schema, others.session.schema];
  for (const [table, select] of Object.entries(comparedUsage)) {
    for (const [a, b] of [
      [left, right],
      [right, left],
    ] as const) {
      const { rows } = await some.session.query(
        `(${select(a, b, table)}) except all (${select(b, b, table)})`,
      );
      assert.equal(rows, [], table);
    }
  }
}

/** Questions as before, about what the meters of a log count. */
export function aboutMeters(
  log: readonly LogItem[],
  asked: readonly UsageQuestion[],
): readonly UsageQuestion[] {
  const meters = recordedIn<MeterData>(log, 'MeterCreated');
  return meters.flatMap(({ event_name, aggregation, filters }, index) => {
    const question = asked[index % asked.length];
    if (!question) return [];
    const of = { ...question.of, eventName: event_name };
    return [{ ...question, of, aggregation, filters }];
  });
}

/** Questions as before, by a value of a property that sums are kept of. */
export function aboutGroupings(
  log: readonly LogItem[],
  asked: readonly UsageQuestion[],
): readonly UsageQuestion[] {
  const kept = recordedIn<KeptDefinition>(log, 'UsageGroupingKept');
  return kept.flatMap(({ event_name, field, expression, filters, group_by }, index) => {
    const question = asked[index % asked.length];
    if (!question) return [];
    const type = field === null && expression === null ? 'COUNT' : 'SUM';
    const aggregation = { ...question.aggregation, ...plain, type, field, expression } as const;
    const values = ['large', 'small', 'north', '3', '1', 'true'];
    const of = { ...question.of, eventName: event_name };
    const all = [...filters, { key: group_by, values }];
    const about = { ...question, of, aggregation, filters: all };
    return [about, { ...about, span: longSpan, windows: null }];
  });
}

/** A span with whole hours of every history. */
const longSpan = {
  start: '2018-12-31T23:59:59.999Z' as Instant,
  end: '2026-12-31T00:30:00.000Z' as Instant,
};

const plain = { multiplier: null, bucket_size: null, group_by: null } as const;

type MeterData = Pick<UsageQuestion, 'aggregation' | 'filters'> & { readonly event_name: string };
