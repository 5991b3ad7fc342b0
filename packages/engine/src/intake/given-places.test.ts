import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FactStatement, type FactTables, factStatement } from '../define/intake.ts';
import { statementWith } from './given-places.ts';

const test = suite('statements that are written once');

interface Tables {
  drop: { readonly at: string; readonly litres: number };
}

const tables = { name: 'rain' } as FactTables<Tables>;

/** A statement that counts how often it is written. */
function counted(): {
  readonly statement: FactStatement<
    Tables,
    { readonly from: string; readonly litres: number },
    object
  >;
  readonly times: () => number;
} {
  let times = 0;
  const statement = factStatement(
    tables,
    (from, given: { readonly from: string; readonly litres: number }) => {
      times += 1;
      return from
        .selectFrom('drop')
        .select('at')
        .where('litres', '>', given.litres)
        .where('at', '>=', given.from)
        .where('at', '<>', given.from)
        .limit(7);
    },
  );
  return { statement, times: () => times };
}

test('a statement is written once, and its values stand where they were asked for', () => {
  const { statement, times } = counted();
  const first = statementWith(statement, 'rain_v1', { from: '2026', litres: 3 });
  const second = statementWith(statement, 'rain_v1', { from: '2027', litres: 4 });
  assert.equal(first.values, [3, '2026', '2026', 7]);
  assert.equal(second.values, [4, '2027', '2027', 7]);
  assert.equal([second.text, second.name, times()], [first.text, first.name, 1]);
});

test('other tables have a statement of their own', () => {
  const { statement, times } = counted();
  const given = { from: '2026', litres: 3 };
  const before = statementWith(statement, 'rain_v1', given);
  const after = statementWith(statement, 'rain_v2', given);
  assert.match(before.text, '"rain_v1"."drop"');
  assert.match(after.text, '"rain_v2"."drop"');
  assert.is.not(after.name, before.name);
  assert.is(times(), 2);
});

test.run();
