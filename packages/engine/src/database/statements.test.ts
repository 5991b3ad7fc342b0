import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parameter, statements, statementText, writtenFor, writtenOnce } from './statements.ts';

const test = suite('statements');

test('a statement that is asked again and again is written at its first use, and once', () => {
  let writings = 0;
  const statement = writtenOnce(() => {
    writings += 1;
    return statements.selectFrom('filling').select('name').where('name', '=', 'a');
  });
  assert.is(writings, 0);
  for (const _ of [1, 2]) {
    const { sql, parameters } = statement.compile();
    assert.is(sql, 'select "name" from "counterfoil"."filling" where "name" = $1');
    assert.equal(parameters, ['a']);
  }
  assert.is(writings, 1);
});

test('one with the values of a policy is written once for each policy', () => {
  const writings: number[] = [];
  const statement = writtenFor(({ most }: { readonly most: number }) => {
    writings.push(most);
    return statements.selectFrom('filling').select('name').limit(most);
  });
  const [few, many] = [{ most: 1 }, { most: 9 }];
  assert.equal(
    [few, many, few, many].map((policy) => statement(policy).compile().parameters),
    [[1], [9], [1], [9]],
  );
  assert.equal(writings, [1, 9]);
});

test('a text with places has no value of its own, which would be counted from one again', () => {
  const named = statements.updateTable('filling').set({ name: parameter<string>(2) });
  const text = statementText(named.where('name', '=', parameter<string>(1)));
  assert.is(text, 'update "counterfoil"."filling" set "name" = $2 where "name" = $1');
  assert.throws(() => statementText(named.where('name', '=', 'usage')), /a value of its own/);
});

test.run();
