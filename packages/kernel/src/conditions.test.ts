import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type Condition, withConditions } from './conditions.ts';

const test = suite('conditions');

type Json = Readonly<Record<string, unknown>>;

/** Tells whether a value fulfils a JSON Schema of the keywords that conditions are written with. */
function fulfils(schema: Json, value: Json): boolean {
  const all = (schemas: unknown) => (schemas as Json[]).map((each) => fulfils(each, value));
  const held = Object.entries(schema).map(([keyword, operand]) => {
    if (keyword === 'required') return (operand as string[]).every((name) => name in value);
    if (keyword === 'properties') {
      return Object.entries(operand as Record<string, Json>).every(
        ([name, member]) => !(name in value) || fulfils(member, value[name] as Json),
      );
    }
    if (keyword === 'enum') {
      return (operand as unknown[]).some((one) => JSON.stringify(one) === JSON.stringify(value));
    }
    if (keyword === 'not') return !fulfils(operand as Json, value);
    if (keyword === 'allOf') return !all(operand).includes(false);
    if (keyword === 'anyOf') return all(operand).includes(true);
    if (keyword === 'oneOf') return all(operand).filter(Boolean).length === 1;
    if (keyword === 'if') {
      const branch = schema[fulfils(operand as Json, value) ? 'then' : 'else'];
      return branch === undefined || fulfils(branch as Json, value);
    }
    return true;
  });
  return !held.includes(false);
}

const bodySchema = z.object({
  kind: z.enum(['a', 'b']).default('a'),
  mode: z.enum(['x', 'y']).optional(),
  text: z.string().nullish(),
  list: z.array(z.string()).nullish(),
  pairs: z.record(z.string(), z.string()).nullish(),
  count: z.number().nullish(),
  isOn: z.boolean().default(true),
});
type Member = keyof typeof bodySchema.shape;

const domains: Readonly<Record<Member, readonly unknown[]>> = {
  kind: [undefined, 'a', 'b'],
  mode: [undefined, 'x', 'y'],
  text: [undefined, null, '', 't'],
  list: [undefined, null, [], ['t']],
  pairs: [undefined, {}, { k: 't' }],
  count: [undefined, null, 0, 1],
  isOn: [undefined, true, false],
};

/** Every combination of the values of the members. */
const bodies = Object.entries(domains).reduce<readonly Json[]>(
  (made, [name, values]) =>
    made.flatMap((body) =>
      values.map((value) => (value === undefined ? body : { ...body, [name]: value })),
    ),
  [{}],
);

const says = 'no';
const conditions: readonly Condition<Member>[] = [
  { needs: 'text', says },
  { when: { isOn: true }, someOf: ['text', 'count'], says },
  { when: { kind: 'a' }, needs: 'list', says },
  { when: { kind: 'b', mode: ['x', 'y'] }, lacks: 'pairs', says },
  { when: { mode: 'x' }, limits: 'count', to: [1], says },
  { unless: { kind: 'a' }, lacks: 'text', says },
  { unless: { mode: 'y' }, limits: 'count', to: [0], says },
  { beside: 'list', needs: 'text', says },
  { oneOf: ['text', 'list', 'pairs'], says },
  { someOf: ['text', 'list', 'pairs'], says },
  { atMostOneOf: ['text', 'list', 'pairs'], says },
];

for (const condition of conditions) {
  const { says: _, ...rule } = condition;
  test(`what is refused is what the document forbids: ${JSON.stringify(rule)}`, () => {
    const schema = withConditions(bodySchema, [condition]);
    const document = z.globalRegistry.get(schema) as Json;
    const outcomes = bodies.map((body) => {
      const { success } = schema.safeParse(body);
      assert.is(success, fulfils(document, body), JSON.stringify(body));
      return success;
    });
    assert.equal([...new Set(outcomes)].sort(), [false, true], 'it decides');
  });
}

test('conditions of one circumstance, and those that ask the same, are written once', () => {
  const several: readonly Condition<Member>[] = [
    { when: { kind: 'a' }, needs: 'text', says },
    { when: { kind: 'a' }, oneOf: ['list', 'pairs'], says },
    { unless: { kind: 'a' }, lacks: 'count', says },
    { when: { mode: 'x' }, lacks: 'pairs', says },
    { when: { mode: 'y' }, lacks: 'pairs', says },
    { when: { mode: ['x', 'y'] }, limits: 'count', to: [1], says },
  ];
  const schema = withConditions(bodySchema, several);
  const document = z.globalRegistry.get(schema) as { readonly allOf: readonly Json[] };
  assert.is(document.allOf.length, 2);
  for (const body of bodies) {
    assert.is(schema.safeParse(body).success, fulfils(document, body), JSON.stringify(body));
  }
});

const faultsOf = (body: object, condition: Condition<Member>) =>
  withConditions(bodySchema, [condition])
    .safeParse(body)
    .error?.issues.map(({ path, message }) => [...path, message]);

test('a refusal names the member that lacks or is too many', () => {
  const one: Condition<Member> = { oneOf: ['text', 'list'], says: 'give one' };
  assert.equal(faultsOf({}, one), [['text', 'give one']]);
  assert.equal(faultsOf({ text: 't', list: ['t'] }, one), [['list', 'give one']]);
  assert.equal(faultsOf({ text: 't' }, one), undefined);
});

test.run();
