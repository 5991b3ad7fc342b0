import { pointersOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  changeRolesSchema,
  createApiKeySchema,
  createUserSchema,
  updateTenantSchema,
  userSearchSchema,
} from './schema.ts';

const test = suite('tenancy schemas');

const person = { type: 'user', email: 'ada@example.com' };
const account = { type: 'service_account', roles: ['event_ingestor'] };
const key = { name: 'CI', type: 'private_key' };

const cases: readonly [string, Parameters<typeof pointersOf>[0], object, readonly string[]][] = [
  ['a person', createUserSchema, person, []],
  ['a service account', createUserSchema, account, []],
  ['a service account with an empty e-mail', createUserSchema, { ...account, email: '' }, []],
  ['a user without type', createUserSchema, { email: 'a@b.co' }, ['/type']],
  ['a user of unknown type', createUserSchema, { ...person, type: 'robot' }, ['/type']],
  ['a person without e-mail', createUserSchema, { type: 'user' }, ['/email']],
  ['a person with a malformed e-mail', createUserSchema, { ...person, email: 'ada' }, ['/email']],
  ['a service account with e-mail', createUserSchema, { ...account, email: 'a@b.co' }, ['/email']],
  ['a service account without roles', createUserSchema, { type: 'service_account' }, ['/roles']],
  ['an unknown role', createUserSchema, { ...person, roles: ['king'] }, ['/roles/0']],
  [
    'a role of the other type',
    createUserSchema,
    { ...person, roles: ['all_reader', 'event_reader'] },
    ['/roles/1'],
  ],
  ['a long name', createUserSchema, { ...person, name: 'x'.repeat(256) }, ['/name']],
  ['changed roles', changeRolesSchema, { roles: ['all_reader'] }, []],
  ['changed roles without roles', changeRolesSchema, {}, ['/roles']],
  ['a search for users', userSearchSchema, { type: 'user', roles: ['all_reader'] }, []],
  ['a search for an unknown role', userSearchSchema, { roles: ['king'] }, ['/roles/0']],
  ['a search that expands', userSearchSchema, { expand: 'tenant' }, ['/expand']],
  ['a search for no users at all', userSearchSchema, { limit: 0 }, ['/limit']],
  ['a key', createApiKeySchema, key, []],
  ['a key without name', createApiKeySchema, { type: 'private_key' }, ['/name']],
  ['a key without type', createApiKeySchema, { name: 'CI' }, ['/type']],
  ['a publishable key', createApiKeySchema, { ...key, type: 'publishable_key' }, ['/type']],
  [
    'a key that expires on no day',
    createApiKeySchema,
    { ...key, expires_at: '2026-02-30T00:00:00Z' },
    ['/expires_at'],
  ],
  ['a tenant without changes', updateTenantSchema, {}, []],
  ['a tenant with an empty name', updateTenantSchema, { name: '' }, ['/name']],
  [
    'a malformed billing e-mail',
    updateTenantSchema,
    { billing_details: { email: 'x' } },
    ['/billing_details/email'],
  ],
  [
    'an unknown country',
    updateTenantSchema,
    { billing_details: { address: { address_country: 'XX' } } },
    ['/billing_details/address/address_country'],
  ],
];

for (const [what, schema, value, pointers] of cases) {
  test(`${what}: ${pointers.length === 0 ? 'valid' : pointers.join()}`, () => {
    assert.equal(pointersOf(schema, value), pointers);
  });
}

test('a role that is named twice counts once', () => {
  assert.equal(changeRolesSchema.parse({ roles: ['all_reader', 'all_reader'] }).roles, [
    'all_reader',
  ]);
});

test.run();
