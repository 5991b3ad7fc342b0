import type { GroupId } from '@counterfoil/kernel';
import { folded, given, pointersOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { archiveGroup, createGroup, type GroupEvent, group, groupView } from './group.ts';
import { createGroupSchema, groupSchema } from './schema.ts';

const test = suite('group');

const id = 'group_01' as GroupId;
const valid = { name: 'Models', lookup_key: 'models', entity_type: 'feature' };
const request = createGroupSchema.parse(valid);
const created: GroupEvent = { type: 'GroupCreated', data: { id, ...request } };
const archived: GroupEvent = { type: 'GroupArchived', data: {} };

test('is created as it was asked for, without metadata unless given', () => {
  given(group, []).when(createGroup(id, request)).then([created]);
  assert.equal(request.metadata, {});
});

test('deleting archives; doing it again changes nothing', () => {
  given(group, [created]).when(archiveGroup(id)).then([archived]);
  given(group, [created, archived]).when(archiveGroup(id)).then([]);
  given(group, []).when(archiveGroup(id)).thenProblem('not_found');
});

test('holds its lookup_key until it is archived', () => {
  const heldAfter = (events: readonly GroupEvent[]) =>
    group.unique?.(folded(group, events)).map(({ name, value }) => `${name} ${value}`);
  assert.equal(heldAfter([]), []);
  assert.equal(heldAfter([created]), ['lookup_key models']);
  assert.equal(heldAfter([created, archived]), []);
});

test('the view is of the published form', () => {
  const view = groupView(folded(group, [created, archived]));
  assert.equal(groupSchema.parse(view), view);
  assert.equal([view.status, view.updated_at], ['archived', stampAt(1).occurred_at]);
});

const refused: readonly [object, string][] = [
  [{ ...valid, name: ' ' }, '/name'],
  [{ ...valid, lookup_key: '' }, '/lookup_key'],
  [{ name: 'x', entity_type: 'price' }, '/lookup_key'],
  [{ ...valid, lookup_key: 'x'.repeat(256) }, '/lookup_key'],
  [{ ...valid, entity_type: 'plan' }, '/entity_type'],
  [{ ...valid, metadata: { a: 1 } }, '/metadata/a'],
];

for (const [body, pointer] of refused) {
  test(`refuses ${JSON.stringify(body).slice(0, 80)}`, () =>
    assert.equal(pointersOf(createGroupSchema, body), [pointer]));
}

test.run();
