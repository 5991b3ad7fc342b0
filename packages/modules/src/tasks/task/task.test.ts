import { ContentStream } from '@counterfoil/engine/define';
import { callRoute, published, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { importLimits } from '../limits.ts';
import { streamOf, textOf } from '../test-files.ts';
import { importWorld } from '../test-import-world.ts';
import { abandonTask } from './decisions.ts';
import { taskPublicEvents } from './public-events.ts';
import { importTask } from './task.ts';

const test = suite('tasks');

const csv = { entity_type: 'CUSTOMERS', file_type: 'CSV' };
const file = 'name,external_id\nA,a';

test('a task has all its members from the beginning, and waits for its file', async () => {
  const { create } = importWorld();
  const { id, created_at, updated_at, ...task } = await create({
    ...csv,
    file_name: 'customers.csv',
    metadata: { by: 'ops' },
  });
  assert.match(id, /^task_/);
  assert.equal(task, {
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    created_by: 'user_01',
    updated_by: 'user_01',
    status: 'published',
    task_type: 'IMPORT',
    entity_type: 'CUSTOMERS',
    task_status: 'PENDING',
    file_type: 'CSV',
    file_name: 'customers.csv',
    on_existing: 'refuse',
    processed_records: 0,
    successful_records: 0,
    failed_records: 0,
    line: 0,
    read_bytes: 0,
    metadata: { by: 'ops' },
  });
});

test('what cannot be imported is refused, and so is a key without the right', async () => {
  const { create, memory, routes } = importWorld();
  const { id } = await create(csv);
  const faults: [object, string][] = [
    [{ ...csv, file_url: 'http://example.com/a.csv' }, '/file_url'],
    [{ ...csv, file_url: 'https://127.0.0.1/a.csv' }, '/file_url'],
    [{ entity_type: 'EVENTS', file_type: 'CSV', on_existing: 'update' }, '/on_existing'],
  ];
  for (const [body, pointer] of faults) {
    const { code, errors } = await rejection(create(body));
    assert.equal([code, errors?.[0]?.pointer], ['validation_error', pointer]);
  }
  const weak = { ...testPrincipal(), allows: (right: string) => right === 'task:write' };
  const refused = await rejection(
    callRoute(routes['POST /tasks'], memory.request(weak), {
      body: { task_type: 'IMPORT', ...csv },
    }),
  );
  assert.is(refused.code, 'permission_denied');
  const sent = callRoute(routes['PUT /tasks/{id}/file'], memory.request(weak), {
    params: { id },
    stream: streamOf(file),
  });
  assert.is((await rejection(sent)).code, 'permission_denied');
  assert.equal(refused.details?.permission, 'customer:write');
});

test('imports that have not ended are limited', async () => {
  const { create, setStatus } = importWorld();
  const ids: string[] = [];
  for (let index = 0; index < importLimits.open; index += 1) ids.push((await create(csv)).id);
  assert.is((await rejection(create(csv))).details?.reason, 'limit_reached');
  await setStatus(ids[0] ?? '', 'FAILED');
  await create(csv);
});

test('a file comes in parts, each behind the one before or in its place', async () => {
  const { create, upload, get, files } = importWorld();
  const { id } = await create(csv);
  const pointerOf = async (part: Promise<unknown>) => (await rejection(part)).errors?.[0]?.pointer;
  assert.is((await upload(id, 'name,', { complete: 'false' })).received_bytes, 5);
  assert.is(await pointerOf(upload(id, 'x', { offset: 6 })), '/offset');
  await upload(id, 'lost', { offset: 5, complete: 'false' });
  await upload(id, 'external_id\nA,a', { offset: 5 });
  assert.equal([(await get(id)).file_bytes, (await get(id)).task_status], [20, 'PENDING']);
  const name = { environmentId: 'env_01', name: `${id}/file` };
  assert.is(await textOf(files.read(name)), file);
  assert.is((await rejection(upload(id, 'again'))).details?.reason, 'task_state');
});

test('an empty file is refused, and a task with a URL takes none', async () => {
  const { create, upload, routes, request } = importWorld();
  const { id } = await create(csv);
  const empty = callRoute(routes['PUT /tasks/{id}/file'], request(), { params: { id } });
  assert.is((await rejection(empty)).code, 'validation_error');
  const other = await create({ ...csv, file_url: 'https://example.com/a.csv' });
  assert.is((await rejection(upload(other.id, file))).details?.reason, 'task_state');
});

test('of two that send one file the first finds that it was overtaken', async () => {
  const { create, upload, routes, request, files } = importWorld();
  const { id } = await create(csv);
  const slow = callRoute(routes['PUT /tasks/{id}/file'], request(), {
    params: { id },
    stream: (async function* () {
      yield Buffer.alloc(importLimits.pieceBytes);
      await upload(id, file, { complete: 'false' });
      yield Buffer.alloc(importLimits.pieceBytes);
    })(),
  });
  assert.is((await rejection(slow)).code, 'version_conflict');
  assert.is(await textOf(files.read({ environmentId: 'env_01', name: `${id}/file` })), file);
});

test('a task is stopped and goes on; one that is completed does neither', async () => {
  const { create, upload, run, get, setStatus } = importWorld();
  const { id } = await create(csv);
  await upload(id, file);
  await setStatus(id, 'FAILED');
  assert.equal((await get(id)).error_summary, 'Stopped by request.');
  assert.is((await rejection(setStatus(id, 'COMPLETED'))).details?.reason, 'task_state');
  await setStatus(id, 'PROCESSING');
  assert.is((await get(id)).task_status, 'PENDING');
  await run(id);
  for (const status of ['FAILED', 'PENDING', 'PROCESSING']) {
    assert.is((await rejection(setStatus(id, status))).details?.reason, 'task_state');
  }
  await setStatus(id, 'COMPLETED');
});

test('a file that was lost is sent again; another one is not taken behind rows of the first', async () => {
  const { create, upload, run, get, setStatus, files } = importWorld();
  const { id } = await create(csv);
  const text = `name,external_id\n${Array.from({ length: 600 }, (_, at) => `C,c-${at}`).join('\n')}`;
  await upload(id, text);
  await run(id, { diesAtNote: 2 }).catch(() => undefined);
  await files.remove({ environmentId: 'env_01', name: `${id}/file` });
  await run(id);
  assert.match((await get(id)).error_summary ?? '', 'no longer there');
  assert.is((await rejection(upload(id, file))).details?.reason, 'task_state');
  await upload(id, text);
  await setStatus(id, 'PENDING');
  assert.is((await run(id)).kind, 'completed');
  assert.is((await get(id)).successful_records, 600);
});

test('files of an environment are limited together; those of imports that nobody works on can be removed', async () => {
  const { create, upload, get, run, removeFile, setStatus } = importWorld(40);
  const { id: first } = await create(csv);
  const { id: second } = await create(csv);
  await upload(first, file);
  const refused = await rejection(upload(second, `${file}\n${'x'.repeat(30)}`));
  assert.equal(
    [refused.code, refused.details?.reason, refused.details?.limit_bytes],
    ['invalid_operation', 'limit_reached', 40],
  );
  assert.is((await rejection(removeFile(first))).details?.reason, 'task_state');
  await setStatus(first, 'FAILED');
  await removeFile(first);
  await upload(second, file);
  assert.is((await run(second)).kind, 'completed');
  await setStatus(first, 'PENDING');
  await run(first);
  assert.match((await get(first)).error_summary ?? '', 'no longer there');
  assert.is((await rejection(removeFile('task_none'))).code, 'not_found');
});

test('an import fails, and can go on, where there is no room for its bad rows', async () => {
  const text = 'name,external_id\n,a\nB,b';
  const { create, upload, run, get, setStatus, files } = importWorld(text.length + 10);
  const { id } = await create(csv);
  await upload(id, text);
  await run(id);
  assert.match((await get(id)).error_summary ?? '', 'no room for bad rows');
  assert.is((await get(id)).processed_records, 0);
  await setStatus(id, 'PENDING');
  const roomy = { ...files, add: async () => true };
  assert.is((await run(id, { files: roomy })).kind, 'completed');
  assert.is((await get(id)).failed_records, 1);
});

test('bad rows of an import that is completed are removed on request', async () => {
  const { create, upload, run, removeFile, routes, request } = importWorld();
  const { id } = await create(csv);
  await upload(id, 'name,external_id\n,a');
  await run(id);
  await removeFile(id);
  const download = callRoute(routes['GET /tasks/{id}/download'], request(), { params: { id } });
  assert.is((await rejection(download)).details?.reason, 'no_longer_kept');
});

test('an import that waits in vain for its file fails, and takes one all the same', async () => {
  const { create, upload, run, get, setStatus, request } = importWorld();
  const { id } = await create(csv);
  const abandon = () => request().execute(importTask, id, abandonTask(7 * 24));
  await abandon();
  const { task_status, error_summary } = await get(id);
  assert.equal(
    [task_status, error_summary?.slice(0, 31)],
    ['FAILED', 'No file has come within 7 days.'],
  );
  await upload(id, file);
  await setStatus(id, 'PENDING');
  assert.is((await abandon()).events.length, 0);
  assert.is((await run(id)).kind, 'completed');
});

test('endpoints are told of the beginning, of the end and of a failure, and not of progress', async () => {
  const { create, upload, run, request } = importWorld();
  const { id } = await create(csv);
  await upload(id, 'name,external_id\n"');
  await run(id);
  const types = (await published(request(), taskPublicEvents, importTask, id)).map(
    ({ type }) => type,
  );
  assert.equal(types, ['task.created', 'task.failed']);
});

test('a task without bad rows has nothing to download, and rows that are gone are not told as none', async () => {
  const { create, upload, run, routes, request, files } = importWorld();
  const { id } = await create(csv);
  const download = () =>
    callRoute(routes['GET /tasks/{id}/download'], request(), { params: { id } });
  const nothing = await download();
  assert.instance(nothing, ContentStream);
  assert.is(await textOf((nothing as ContentStream).pieces), '');
  await upload(id, 'name,external_id\n,a');
  await run(id);
  assert.match(await textOf(((await download()) as ContentStream).pieces), '"line":2');
  await files.remove({ environmentId: 'env_01', name: `${id}/bad-rows` });
  assert.is((await rejection(download())).details?.reason, 'no_longer_kept');
  await textOf(streamOf(''));
});

test.run();
