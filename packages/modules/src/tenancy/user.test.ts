import type { UserId } from '@counterfoil/kernel';
import { folded, given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Role } from './roles.ts';
import { createUserSchema } from './schema.ts';
import {
  changeRoles,
  createUser,
  deleteUser,
  type Granter,
  type UserEvent,
  user,
  userView,
} from './user.ts';

const test = suite('user');

const id = 'user_ada' as UserId;
const admin: Granter = { userId: 'user_admin' as UserId, roles: ['super_admin'] };
const writer: Granter = { userId: 'user_writer' as UserId, roles: ['all_writer'] };

const created = (data: Partial<(UserEvent & { type: 'UserCreated' })['data']> = {}): UserEvent => ({
  type: 'UserCreated',
  data: {
    id,
    type: 'user',
    email: 'Ada@Example.com',
    name: 'Ada',
    roles: ['all_reader'],
    metadata: {},
    ...data,
  },
});
const account = created({
  type: 'service_account',
  email: null,
  name: null,
  roles: ['event_reader'],
});
const deleted: UserEvent = { type: 'UserDeleted', data: {} };
const changed = (...roles: Role[]): UserEvent => ({ type: 'UserRolesChanged', data: { roles } });

const create = (request: object, granter: Granter) =>
  createUser(id, createUserSchema.parse(request), granter);

test('is created as a person', () => {
  const request = { type: 'user', email: 'Ada@Example.com', name: 'Ada', roles: ['all_reader'] };
  given(user, []).when(create(request, admin)).then([created()]);
});

test('is created as a service account without e-mail', () => {
  given(user, [])
    .when(create({ type: 'service_account', roles: ['event_reader'] }, writer))
    .then([account]);
});

test('gets no role that gives more than the granting roles', () => {
  given(user, [])
    .when(create({ type: 'user', email: 'a@b.co', roles: ['super_admin'] }, writer))
    .thenProblem('permission_denied');
});

test('holds its e-mail, in any case of letters, until it is deleted', () => {
  const heldAfter = (...events: UserEvent[]) =>
    user.unique?.(folded(user, events)).map(({ name, value }) => `${name} ${value}`);
  assert.equal(heldAfter(created()), ['email ada@example.com']);
  assert.equal(heldAfter(created(), deleted), []);
  assert.equal(heldAfter(account), []);
});

test('roles are changed by another super_admin', () => {
  given(user, [created()])
    .when(changeRoles(id, ['all_writer'], admin))
    .then([changed('all_writer')]);
  given(user, [created()])
    .when(changeRoles(id, ['all_writer'], writer))
    .thenProblem('permission_denied');
  given(user, [created()])
    .when(changeRoles(id, ['all_writer'], { userId: id, roles: ['super_admin'] }))
    .thenProblem('permission_denied');
});

test('the same roles in another order are no change', () => {
  given(user, [created({ roles: ['all_reader', 'all_writer'] })])
    .when(changeRoles(id, ['all_writer', 'all_reader'], admin))
    .then([]);
});

test('roles that a person cannot hold are refused', () => {
  given(user, [created()])
    .when(changeRoles(id, ['super_admin', 'all_reader'], admin))
    .thenProblem('validation_error', '/roles');
  given(user, [created()])
    .when(changeRoles(id, ['event_reader'], admin))
    .thenProblem('validation_error', '/roles/0');
});

test('the roles of a service account never change', () => {
  given(user, [account])
    .when(changeRoles(id, ['event_ingestor'], admin))
    .thenProblem('invalid_operation');
});

test('is deleted by another super_admin, once', () => {
  given(user, [created()]).when(deleteUser(id, admin)).then([deleted]);
  given(user, [created()]).when(deleteUser(id, writer)).thenProblem('permission_denied');
  given(user, [created()])
    .when(deleteUser(id, { userId: id, roles: ['super_admin'] }))
    .thenProblem('permission_denied');
  given(user, [created(), deleted]).when(deleteUser(id, admin)).thenProblem('not_found');
  given(user, [created(), deleted])
    .when(changeRoles(id, [], admin))
    .thenProblem('not_found');
});

test('a service account is shown with an empty e-mail', () => {
  const { email, name, type } = userView(folded(user, [account]));
  assert.equal({ email, name, type }, { email: '', name: undefined, type: 'service_account' });
});

test.run();
