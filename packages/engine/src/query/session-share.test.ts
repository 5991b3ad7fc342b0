import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SessionShare } from './session-share.ts';

const test = suite('share of a tenant in the database sessions');

/** A read that begins at once or later, and ends when it is told to. */
function readOf(share: SessionShare, tenant: string) {
  const read = { hasBegun: false, end: (): void => undefined, done: Promise.resolve() };
  read.done = share.run(tenant, async () => {
    read.hasBegun = true;
    await new Promise<void>((resolve) => {
      read.end = resolve;
    });
  });
  return read;
}

test('a tenant has its share, and the others wait in order', async () => {
  const share = new SessionShare({ perTenant: 2, waitMs: 60_000 });
  const reads = ['a', 'a', 'a', 'a'].map((tenant) => readOf(share, tenant));
  assert.equal(
    reads.map(({ hasBegun }) => hasBegun),
    [true, true, false, false],
  );
  reads[1]?.end();
  await reads[1]?.done;
  assert.equal(
    reads.map(({ hasBegun }) => hasBegun),
    [true, true, true, false],
  );
  reads[2]?.end();
  await reads[2]?.done;
  assert.ok(reads[3]?.hasBegun);
  for (const { end } of reads) end();
  await Promise.all(reads.map(({ done }) => done));
});

test('another tenant does not wait', () => {
  const share = new SessionShare({ perTenant: 1, waitMs: 60_000 });
  const reads = ['a', 'a', 'b'].map((tenant) => readOf(share, tenant));
  assert.equal(
    reads.map(({ hasBegun }) => hasBegun),
    [true, false, true],
  );
  reads[0]?.end();
});

test('a read that waits too long is refused, and takes nothing', async () => {
  const share = new SessionShare({ perTenant: 1, waitMs: 0 });
  const first = readOf(share, 'a');
  const error = await readOf(share, 'a').done.catch((thrown: unknown) => thrown);
  assert.instance(error, Problem);
  assert.is((error as Problem).code, 'too_many_requests');
  first.end();
  await first.done;
  assert.ok(readOf(share, 'a').hasBegun);
});

test('a read that fails gives its session back', async () => {
  const share = new SessionShare({ perTenant: 1, waitMs: 60_000 });
  const failing = share.run('a', () => Promise.reject(new Error('away')));
  assert.match(String(await failing.catch((error: unknown) => error)), /away/);
  assert.ok(readOf(share, 'a').hasBegun);
});

test.run();
