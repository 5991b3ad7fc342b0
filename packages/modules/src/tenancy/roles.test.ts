import { problemOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  allows,
  commonRoles,
  type Role,
  refuseGrantBeyond,
  roleFault,
  roles,
  type UserType,
} from './roles.ts';

const test = suite('roles');

const permissions = ['wallet:read', 'wallet:write', 'event:read', 'event:write'] as const;

/** The permissions above that each role gives (D13). */
const matrix: Readonly<Record<Role, readonly string[]>> = {
  super_admin: permissions,
  all_reader: ['wallet:read', 'event:read'],
  all_writer: permissions,
  event_ingestor: ['event:write'],
  event_reader: ['event:read'],
};

const allowedBy = (held: readonly Role[]) => permissions.filter((right) => allows(held, right));
const everyRole = Object.keys(roles) as Role[];
/** All sets of roles, the empty one included. */
const everySet: Role[][] = [[]];
for (const role of everyRole) everySet.push(...everySet.map((set) => [...set, role]));

for (const role of everyRole) {
  test(`${role} allows what the table says and nothing else`, () => {
    assert.equal(allowedBy([role]), matrix[role]);
  });
}

test('no role allows nothing', () => {
  assert.equal(allowedBy([]), []);
});

test('several roles allow what any of them does', () => {
  for (const held of everySet) {
    const union = permissions.filter((right) => held.some((role) => matrix[role].includes(right)));
    assert.equal(allowedBy(held), union, held.join());
  }
});

test('a permission of unknown form is allowed to super_admin only', () => {
  for (const role of everyRole) assert.is(allows([role], 'odd'), role === 'super_admin', role);
});

test('common roles allow exactly what both sides do', () => {
  for (const left of everySet) {
    for (const right of everySet) {
      const both = allowedBy(left).filter((permission) => allows(right, permission));
      assert.equal(allowedBy(commonRoles(left, right)), both, `${left} and ${right}`);
    }
  }
});

test('common roles never contain super_admin unless both sides do', () => {
  assert.equal(commonRoles(['super_admin'], ['all_writer']), ['all_writer']);
  assert.equal(commonRoles(['all_reader'], ['super_admin']), ['all_reader']);
  assert.equal(commonRoles(['super_admin'], ['super_admin']), ['super_admin']);
});

const grants: readonly [Role, readonly Role[]][] = [
  ['super_admin', everyRole],
  ['all_writer', ['all_reader', 'all_writer', 'event_ingestor', 'event_reader']],
  ['all_reader', ['all_reader', 'event_reader']],
  ['event_ingestor', ['event_ingestor']],
  ['event_reader', ['event_reader']],
];

for (const [granter, grantable] of grants) {
  test(`${granter} grants only what they hold`, () => {
    for (const role of everyRole) {
      if (grantable.includes(role)) {
        refuseGrantBeyond([granter], [role]);
        continue;
      }
      const problem = problemOf(() => refuseGrantBeyond([granter], [role]));
      assert.equal([problem.code, problem.details], ['permission_denied', { roles: [role] }], role);
    }
  });
}

const faults: readonly [UserType, readonly Role[], string | null][] = [
  ['user', ['super_admin'], null],
  ['user', ['all_reader'], null],
  ['user', ['all_reader', 'all_writer'], null],
  ['user', [], null],
  ['user', ['event_ingestor'], '/roles/0'],
  ['user', ['all_reader', 'event_reader'], '/roles/1'],
  ['user', ['super_admin', 'all_reader'], '/roles'],
  ['service_account', ['super_admin'], null],
  ['service_account', ['event_ingestor', 'event_reader'], null],
  ['service_account', ['all_reader'], '/roles/0'],
  ['service_account', ['super_admin', 'event_reader'], '/roles'],
  ['service_account', [], '/roles'],
];

for (const [type, held, pointer] of faults) {
  test(`a ${type} with [${held}] is ${pointer ? `refused at ${pointer}` : 'fine'}`, () => {
    assert.is(roleFault(type, held)?.pointer ?? null, pointer);
  });
}

test.run();
