import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { eventually } from '@counterfoil/testkit';
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
const large = Array.from({ length: 20 }, () => [testRow('x', 'n'.repeat(1_000_000), '1')]);
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
        'invoice-260101000000-260102000000-1-1.csv',
        'invoice-260101000000-260102000000.csv.manifest.json',
        'invoice-260101000000-260102000000_g0002-1-1.csv',
        'invoice-260101000000-260102000000_g0002.csv.manifest.json',
      ],
    );
    to.close();
  });
}

/** The manifests of a prefix, each with the hash that its file has. */
async function manifestsOf(kind: 'S3' | 'a folder', prefix: string) {
  const folder = join(root, 'tenant_1/env_1/warehouse');
  const keys =
    kind === 'S3'
      ? storage.keys()
      : readdirSync(join(folder, prefix, 'invoice')).map((name) => `${prefix}/invoice/${name}`);
  const get = (key: string) =>
    kind === 'S3' ? storage.get(key) : Promise.resolve(readFileSync(join(folder, key)));
  const made = keys.filter((key) => key.startsWith(`${prefix}/`) && key.endsWith('.manifest.json'));
  return Promise.all(
    made.sort().map(async (key) => {
      const manifest = JSON.parse((await get(key)).toString());
      const [file] = manifest.files;
      const hash = createHash('sha256').update(await get(file.key));
      return { manifest, isWhole: hash.digest('hex') === file.sha256 };
    }),
  );
}

for (const kind of ['S3', 'a folder'] as const) {
  for (const { name, isTold, manifests } of [
    { name: 'and is not told of it', isTold: false, manifests: 2 },
    { name: 'and is told of it', isTold: true, manifests: 1 },
  ]) {
    test(`in ${kind} an attempt that was overtaken, ${name}, changes no file that has a manifest`, async () => {
      const key_prefix = `overtaken-${kind === 'S3' ? 's3' : 'folder'}-${manifests}`;
      const to = kind === 'S3' ? toStorage(key_prefix) : toFolder();
      const { promise: goneOn, resolve: goOn } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const stalled = testRun([], { key_prefix });
      const first = writeExport(to, {
        ...stalled,
        rows: {
          async *[Symbol.asyncIterator]() {
            yield some[0] ?? [];
            begin();
            await goneOn;
            yield others[0] ?? [];
          },
        },
        isCurrent: () => Promise.resolve(!isTold),
      });
      first.catch(() => undefined);
      await begun;
      const next = testRun(some, { key_prefix });
      const second = await writeExport(to, { ...next, run: { ...next.run, attempts: 2 } });
      assert.equal([second.generation, second.is_new, second.rows], [1, true, 3]);
      goOn();
      const error = await first.then(
        () => null,
        (reason: Error) => reason,
      );
      assert.is(error?.name ?? null, isTold ? 'AttemptOvertaken' : null);
      const found = await manifestsOf(kind, key_prefix);
      assert.is(found.length, manifests);
      assert.ok(found.every(({ isWhole }) => isWhole));
      assert.equal(found[0]?.manifest.files, second.files);
      to.close();
    });
  }
}

/** An upload in parts that stands still until it is ended. */
function stuck(to: Destination, key_prefix: string, id: string, attempts: number) {
  const { promise: over, reject: end } = Promise.withResolvers<never>();
  over.catch(() => undefined);
  const { run, ...rest } = testRun([], { key_prefix });
  const written = writeExport(to, {
    ...rest,
    run: { ...run, id, attempts } as typeof run,
    rows: {
      async *[Symbol.asyncIterator]() {
        yield* large;
        await over;
      },
    },
  });
  return {
    async end() {
      end(new Error('given up'));
      await written.catch(() => undefined);
    },
  };
}

test('an attempt takes away what earlier ones of its run have left half sent, and nothing else', async () => {
  const to = toStorage('left');
  const uploads = [stuck(to, 'left', 'task_1', 3)];
  await untilOpen(1);
  uploads.push(stuck(to, 'left', 'task_1', 1), stuck(to, 'left', 'task_2', 1));
  await untilOpen(3);
  const next = testRun(some, { key_prefix: 'left' });
  await writeExport(to, { ...next, run: { ...next.run, attempts: 2 } });
  assert.is(storage.openUploads().length, 2);
  for (const each of uploads) await each.end();
  assert.equal(storage.openUploads(), []);
  to.close();
});

const untilOpen = (uploads: number): Promise<unknown> =>
  eventually(
    async () => storage.openUploads().length === uploads,
    () => `there are ${storage.openUploads().length} uploads`,
  );

test('a folder is rid of what earlier attempts have left', async () => {
  const within = join(root, 'tenant_1/env_1/warehouse/leftover/invoice');
  mkdirSync(within, { recursive: true });
  const uuid = '00000000-0000-4000-8000-000000000000';
  const left = (attempt: string) =>
    `.invoice-260101000000-260102000000-${attempt}.csv.${uuid}.part`;
  for (const attempt of ['1-1', '1-2', '2-1']) writeFileSync(join(within, left(attempt)), 'x');
  const next = testRun(some, { key_prefix: 'leftover' });
  await writeExport(toFolder(), { ...next, run: { ...next.run, attempts: 2 } });
  assert.equal(
    readdirSync(within).filter((name) => name.startsWith('.')),
    [left('1-2'), left('2-1')],
  );
});

test('an attempt goes on where what is left of earlier ones cannot be taken away', async () => {
  const folder = toFolder();
  const refused = new StorageFailed('The storage answered AccessDenied (403).', true);
  const next = testRun(some, { key_prefix: 'unlisted' });
  const told: unknown[] = [];
  const { is_new } = await writeExport(
    { ...folder, removeUnfinished: () => Promise.reject(refused) },
    { ...next, run: { ...next.run, attempts: 2 }, onLeft: (error) => void told.push(error) },
  );
  assert.equal([is_new, told], [true, [refused]]);
});

test('an object that is no manifest is told', async () => {
  const within = join(root, 'tenant_1/env_1/warehouse/strange/invoice');
  mkdirSync(within, { recursive: true });
  writeFileSync(join(within, 'invoice-260101000000-260102000000.csv.manifest.json'), 'mine');
  const told = await failureOf(writeExport(toFolder(), testRun(some, { key_prefix: 'strange' })));
  assert.is(told.isFinal, true);
  assert.match(told.message, /^The object strange\/.*manifest\.json is no manifest of an export/);
});

test('a file that is larger than a part is sent in parts, and read as it was written', async () => {
  const to = toStorage('large');
  const note = 'n'.repeat(20_000);
  const portions = Array.from({ length: 10 }, (_, portion) =>
    Array.from({ length: 100 }, (_, index) => testRow(`${portion}-${index}`, note, '1')),
  );
  const { files } = await writeExport(to, testRun(portions, { key_prefix: 'large' }));
  assert.ok((files[0]?.bytes ?? 0) > 16 * 1024 * 1024);
  const text = (await storage.get(files[0]?.key ?? '')).toString();
  assert.is(text.split('\r\n').length, 1_002);
  assert.equal(storage.openUploads(), []);
  const compressed = await writeExport(
    to,
    testRun(portions, { key_prefix: 'large', compression: 'gzip' }),
  );
  const stored = await storage.get(compressed.files[0]?.key ?? '');
  assert.is(gunzipSync(stored).toString(), text);
  // The same rows, which are seen to be the same after a part was sent.
  const again = await writeExport(to, testRun(portions, { key_prefix: 'large' }));
  assert.is(again.is_new, false);
  assert.equal(storage.openUploads(), []);
  to.close();
});

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

test('the text of a file is that of its rows', () => {
  const folder = join(root, 'tenant_1/env_1/warehouse/local/invoice');
  const text = readFileSync(join(folder, 'invoice-260101000000-260102000000-1-1.csv'), 'utf8');
  assert.is(text.split('\r\n').length, 5);
});

test.run();
