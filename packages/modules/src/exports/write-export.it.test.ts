import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type S3Server, startS3Server } from '@counterfoil/testkit/storage';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Destination, StorageFailed } from './destinations/destination.ts';
import { folderDestination } from './destinations/folder-store.ts';
import { s3Destination } from './destinations/s3-store.ts';
import { testRow, testRun } from './test-run.ts';
import { writeExport } from './write-export.ts';

const test = suite('files of exports');

const policy = { allowHttp: true, allowedCidrs: ['127.0.0.0/8'], deniedCidrs: [] };
let storage: S3Server;
let root: string;

test.before(async () => {
  storage = await startS3Server();
  root = mkdtempSync(join(tmpdir(), 'counterfoil-exports-'));
});

test.after(async () => {
  await storage?.stop();
  rmSync(root, { recursive: true, force: true });
});

const toStorage = (key_prefix: string, secret?: string) => {
  const { config } = configOf(key_prefix);
  const { credentials } = storage;
  return s3Destination({
    config,
    policy,
    credentials: secret ? { ...credentials, aws_secret_access_key: secret } : credentials,
  });
};

const configOf = (key_prefix: string) => {
  const { run } = testRun([], { key_prefix, endpoint_url: storage.url });
  return { config: run.job_config };
};

const toFolder = (): Destination =>
  folderDestination({ root, tenantId: 'tenant_1', environmentId: 'env_1', bucket: 'warehouse' });

const failureOf = async (attempt: Promise<unknown>): Promise<StorageFailed> => {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.instance(error, StorageFailed);
  return error as StorageFailed;
};

const some = [[testRow('a', null, '1.25'), testRow('b', 'x', '2')], [testRow('c', null, '0.75')]];
const others = [[testRow('a', null, '1.25')]];

for (const kind of ['S3', 'a folder'] as const) {
  test(`in ${kind} the same rows are written once, and others beside them`, async () => {
    const prefix = kind === 'S3' ? 'same' : 'local';
    const to = kind === 'S3' ? toStorage(prefix) : toFolder();
    const job = { key_prefix: prefix };
    const first = await writeExport(to, testRun(some, job));
    assert.equal([first.generation, first.is_new, first.rows], [1, true, 3]);
    const again = await writeExport(to, testRun(some, job));
    assert.equal({ ...again, is_new: true }, first);
    assert.is(again.is_new, false);
    const second = await writeExport(to, testRun(others, job));
    assert.equal([second.generation, second.is_new], [2, true]);
    const manifest = JSON.parse((await to.read(first.manifest_key)) ?? '');
    assert.equal(manifest.sums, { amount: { USD: '4' } });
    assert.equal([manifest.from_position, manifest.to_position], ['100', '200']);
    const keys =
      kind === 'S3'
        ? storage.keys().filter((key) => key.startsWith('same/'))
        : readdirSync(join(root, 'tenant_1/env_1/warehouse/local/invoice')).sort();
    assert.equal(
      keys.map((key) => key.split('/').at(-1)),
      [
        'invoice-260101000000-260102000000.csv',
        'invoice-260101000000-260102000000.csv.manifest.json',
        'invoice-260101000000-260102000000_g0002.csv',
        'invoice-260101000000-260102000000_g0002.csv.manifest.json',
      ],
    );
    to.close();
  });
}

test('a file that is larger than a part is sent in parts, and read as it was written', async () => {
  const to = toStorage('large');
  const note = 'n'.repeat(20_000);
  const portions = Array.from({ length: 20 }, (_, portion) =>
    Array.from({ length: 100 }, (_, index) => testRow(`${portion}-${index}`, note, '1')),
  );
  const { files } = await writeExport(to, testRun(portions, { key_prefix: 'large' }));
  assert.ok((files[0]?.bytes ?? 0) > 2 * 16 * 1024 * 1024);
  const text = (await storage.get(files[0]?.key ?? '')).toString();
  assert.is(text.split('\r\n').length, 2_002);
  assert.equal(storage.openUploads(), []);
  const compressed = await writeExport(
    to,
    testRun(portions, { key_prefix: 'large', compression: 'gzip' }),
  );
  const stored = await storage.get(compressed.files[0]?.key ?? '');
  assert.is(gunzipSync(stored).toString(), text);
  // The same rows, which are seen to be the same after two parts were sent.
  const again = await writeExport(to, testRun(portions, { key_prefix: 'large' }));
  assert.is(again.is_new, false);
  assert.equal(storage.openUploads(), []);
  to.close();
});

const large = Array.from({ length: 20 }, () => [testRow('x', 'n'.repeat(1_000_000), '1')]);

test('an upload that is cut leaves nothing, and the next attempt is whole', async () => {
  const to = toStorage('cut');
  const prefix = { key_prefix: 'cut' };
  await storage.break({ kind: 'cut', afterBytes: 1_000_000 });
  const { isFinal, message } = await failureOf(writeExport(to, testRun(large, prefix)));
  assert.equal([isFinal, message], [false, 'The storage cannot be reached: ECONNRESET.']);
  await storage.break(null);
  assert.equal(
    storage.keys().filter((key) => key.startsWith('cut/')),
    [],
  );
  assert.equal(storage.openUploads(), []);
  assert.is((await writeExport(to, testRun(large, prefix))).generation, 1);
  to.close();
});

test('a source that fails halfway leaves nothing', async () => {
  const to = toStorage('halfway');
  const run = testRun(large, { key_prefix: 'halfway' }, (rows) => {
    if (rows === 19) throw new Error('the database went away');
  });
  const error = await writeExport(to, run).catch((reason: Error) => reason.message);
  assert.is(error, 'the database went away');
  assert.equal(storage.openUploads(), []);
  assert.equal(
    storage.keys().filter((key) => key.startsWith('halfway/')),
    [],
  );
  const folder = toFolder();
  await writeExport(
    folder,
    testRun(large, { key_prefix: 'halfway' }, () => run.onRows(19)),
  ).catch(() => undefined);
  assert.equal(readdirSync(join(root, 'tenant_1/env_1/warehouse/halfway/invoice')), []);
  to.close();
});

test('what a storage refuses is told without a secret', async () => {
  const wrong = await failureOf(writeExport(toStorage('wrong', 'guessed'), testRun(some)));
  assert.equal(
    [wrong.isFinal, wrong.message],
    [true, 'The storage answered SignatureDoesNotMatch (403).'],
  );
  await storage.break({ kind: 'failing' });
  const failing = await failureOf(writeExport(toStorage('failing'), testRun(some)));
  assert.equal(
    [failing.isFinal, failing.message],
    [false, 'The storage answered InternalError (500).'],
  );
  await storage.break({ kind: 'refused' });
  const refused = await failureOf(writeExport(toStorage('refused'), testRun(some)));
  assert.equal(
    [refused.isFinal, refused.message],
    [false, 'The storage cannot be reached: ECONNREFUSED.'],
  );
  await storage.break({ kind: 'slow', milliseconds: 100 });
  const { is_new } = await writeExport(toStorage('slow'), testRun(some, { key_prefix: 'slow' }));
  assert.ok(is_new);
  await storage.break(null);
});

test('an address that the operator does not allow is not asked', async () => {
  const { config } = configOf('blocked');
  const strict = { allowHttp: true, allowedCidrs: [], deniedCidrs: [] };
  const { credentials } = storage;
  assert.throws(
    () => s3Destination({ config, credentials, policy: strict }),
    (error: Error) => error instanceof StorageFailed && error.isFinal,
  );
});

test('a file of an attempt that broke off is nobody’s, and its text is that of the folder', () => {
  const folder = join(root, 'tenant_1/env_1/warehouse/local/invoice');
  const text = readFileSync(join(folder, 'invoice-260101000000-260102000000.csv'), 'utf8');
  assert.is(text.split('\r\n').length, 5);
});

test.run();
