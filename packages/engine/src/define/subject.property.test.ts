import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePublicSubject, publicSubject } from './subject.ts';

const test = suite('public subjects');

const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/).filter((text) => text !== '-');
const type = fc.array(token, { minLength: 2, maxLength: 4 }).map((words) => words.join('.'));
const parts = fc.record(
  { tenantId: token, environmentId: fc.option(token, { nil: null }), type, resourceId: token },
  { noNullPrototype: true },
);

test('a subject gives back what it was made of', () => {
  fc.assert(
    fc.property(parts, (given) => {
      assert.equal(parsePublicSubject(publicSubject(given)), given);
    }),
  );
});

test('different parts never share a subject', () => {
  fc.assert(
    fc.property(parts, parts, (left, right) => {
      const same = JSON.stringify(left) === JSON.stringify(right);
      assert.is(publicSubject(left) === publicSubject(right), same);
    }),
  );
});

test('any text in any place is refused or becomes exactly one token without wildcards', () => {
  const place = fc.constantFrom('tenantId', 'environmentId', 'resourceId');
  fc.assert(
    fc.property(parts, place, fc.string({ unit: 'binary' }), (given, name, text) => {
      try {
        const subject = publicSubject({ ...given, [name]: text });
        assert.match(subject, /^billing\.v1(\.[A-Za-z0-9_-]+)+$/);
        assert.is(subject.split('.').length, 5 + given.type.split('.').length);
      } catch (error) {
        if (error instanceof assert.Assertion) throw error;
        assert.not.match(text, /^[A-Za-z0-9_]+$/);
      }
    }),
  );
});

test('the resource comes before its id and the tail after it', () => {
  const subject = publicSubject({
    tenantId: 'tenant_01',
    environmentId: 'env_01',
    type: 'subscription.phase.created',
    resourceId: 'subs_01KA',
  });
  assert.is(subject, 'billing.v1.tenant_01.env_01.subscription.subs_01KA.phase.created');
});

test('a record of the whole tenant has a dash where the environment stands', () => {
  const whole = { tenantId: 't', environmentId: null, type: 'tenant.updated', resourceId: 't' };
  assert.is(publicSubject(whole), 'billing.v1.t.-.tenant.t.updated');
  assert.throws(() => publicSubject({ ...whole, environmentId: '-' }), /cannot be part/);
});

test('a type without a tail and over-long subjects are refused', () => {
  const given = { tenantId: 't', environmentId: 'e', type: 'wallet', resourceId: 'w' };
  assert.throws(() => publicSubject(given), /no tail/);
  const long = { ...given, type: `wallet.${'x'.repeat(250)}` };
  assert.throws(() => publicSubject(long), /longer than/);
});

test('other subjects are not taken apart', () => {
  for (const subject of ['', 'billing.v1', 'billing.v1.t.e.wallet.w', 'billing.v2.t.e.r.i.x']) {
    assert.is(parsePublicSubject(subject), null);
  }
  assert.is(parsePublicSubject('live.billing.v1.t.e.wallet.w.created'), null);
  assert.is(parsePublicSubject('billing.v1.t.e.wallet.*.created'), null);
});

test.run();
