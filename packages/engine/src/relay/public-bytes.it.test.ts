import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { silentLog, startWorld, statement, type TestWorld } from '../projection/test-world.ts';
import { countPublicBytes } from './public-bytes.ts';

const test = suite('bytes of public messages by tenant');
let world: TestWorld;
let database: string;

test.before(async () => {
  world = await startWorld();
  database = await world.database();
});
test.after(() => world.close());

const message = (tenant: string, position: bigint, bytes: number) => ({
  subject: `billing.v1.${tenant}.env.customer.c1.created`,
  position,
  body: new Uint8Array(bytes),
});

/** Counts what one relay publishes before it stops. */
async function published(...messages: readonly ReturnType<typeof message>[]): Promise<void> {
  const count = countPublicBytes({ database, log: silentLog });
  count.note(messages);
  await count.close();
}

const bytesOf = async (tenant: string): Promise<string | undefined> => {
  const rows = await statement<{ bytes: string }>(
    database,
    `select bytes::text from counterfoil.public_bytes where tenant_id = '${tenant}'`,
  );
  return rows[0]?.bytes;
};

test('bytes add up by tenant, and a stream that is filled again counts nothing twice', async () => {
  await published(message('a', 10n, 100), message('b', 11n, 7), message('a', 12n, 50));
  assert.equal([await bytesOf('a'), await bytesOf('b')], ['150', '7']);
  await published(message('a', 10n, 100), message('b', 11n, 7), message('a', 12n, 50));
  assert.equal([await bytesOf('a'), await bytesOf('b')], ['150', '7']);
  await published(message('a', 13n, 1));
  assert.equal([await bytesOf('a'), await bytesOf('b')], ['151', '7']);
});

test('an hour after its first message the count of a tenant begins anew', async () => {
  await published(message('c', 20n, 100));
  await statement(
    database,
    `update counterfoil.public_bytes set began_at = began_at - interval '61 minutes' where tenant_id = 'c'`,
  );
  await published(message('c', 21n, 3));
  await published(message('c', 22n, 4));
  assert.is(await bytesOf('c'), '7');
});

test.run();
