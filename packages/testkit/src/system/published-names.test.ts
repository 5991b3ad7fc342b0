import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

const file = new URL('../../../../docs/reference/openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(file, 'utf8'));

const test = suite('names that published clients send');

const resolved = (schema: Schema): Schema =>
  schema.$ref ? components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema;

/** Returns the schema of a member, through references, lists, extensions and what may be null. */
function member(schema: Schema | undefined, name: string): Schema | undefined {
  if (!schema) return undefined;
  const { properties, items, anyOf = [], allOf = [] } = resolved(schema);
  for (const inner of [...(items ? [items] : []), ...anyOf, ...allOf]) {
    const found = member(inner, name);
    if (found) return found;
  }
  return properties?.[name];
}

/** Names of the clients 2.0.1 to 2.1.43 that have no effect here; a dot leads into an object or a list (D6). */
const sent: readonly (readonly [string, string, readonly string[]])[] = [
  ['post', '/addons', ['type']],
  ['post', '/creditgrants', ['proration_behavior']],
  ...(['post', 'put'] as const).flatMap((method): [string, string, string[]][] => [
    [method, '/customers', ['contact', 'contact_persons', 'billing_currency', 'tax_treatment']],
  ]),
  ['post', '/entitlements', ['grant_quota', 'grant_unlimited']],
  ['post', '/entitlements/bulk', ['items.grant_unlimited']],
  ['put', '/entitlements/{id}', ['grant_unlimited']],
  ['put', '/environments/{id}', ['type']],
  ['post', '/features', ['alert_settings.alert_threshold_type']],
  ['put', '/features/{id}', ['alert_settings.alert_threshold_type']],
  ['post', '/prices', ['bucket_size']],
  ['post', '/prices/bulk', ['items.bucket_size']],
  ['put', '/prices/{id}', ['bucket_size']],
  ['post', '/taxes/associations', ['tax_behavior']],
  ['put', '/taxes/associations/{id}', ['tax_behavior']],
  ['post', '/wallets', ['alert_settings.alert_threshold_type', 'auto_topup.cooldown']],
  ['put', '/wallets/{id}', ['alert_settings.alert_threshold_type', 'auto_topup.cooldown']],
  ['post', '/wallets/{id}/top-up', ['checkout', 'coupons', 'effective_date', 'force_sync_invoice']],
];

for (const [method, path, names] of sent) {
  test(`${method.toUpperCase()} ${path} takes them`, () => {
    const body = paths[`/v1${path}`][method].requestBody.content['application/json'].schema;
    const missing = names.filter((name) => !name.split('.').reduce(member, body));
    assert.equal(missing, []);
  });
}

test.run();
