import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ApiAnswer } from '../http-api.ts';
import { OperatorError } from '../settings.ts';
import { importFile } from './import-file.ts';

const test = suite('import of a file by a task');

const asked = {
  entity_type: 'CUSTOMERS',
  file_type: 'CSV',
  file_name: 'a.csv',
  on_existing: 'refuse',
};
async function* parts() {
  yield Buffer.from('one');
  yield Buffer.from('two');
}

/** Runs an import against answers of a test, by method and path; what it does not name is well. */
async function run(answers: Readonly<Record<string, (ApiAnswer | 'away')[]>>) {
  const asks: string[] = [];
  const answer = (method: string, path: string): ApiAnswer => {
    asks.push(`${method} ${path}`);
    const next = answers[`${method} ${path}`]?.shift();
    if (next === 'away') throw new OperatorError('does not answer');
    return next ?? { status: 200, body: { id: 'task_1', task_status: 'COMPLETED' } };
  };
  const task = await importFile(asked, parts(), {
    call: async (method, path) => answer(method, path),
    send: async (path) => answer('PUT', path),
    pause: () => Promise.resolve(),
    onProgress: () => undefined,
  });
  return { task, asks };
}

test('a file goes out in parts, and is followed to its end', async () => {
  const pending = { status: 200, body: { id: 'task_1', task_status: 'PROCESSING' } };
  const { task, asks } = await run({ 'GET /tasks/task_1': [pending] });
  assert.is(task.task_status, 'COMPLETED');
  assert.equal(asks, [
    'POST /tasks',
    'PUT /tasks/task_1/file?offset=0&complete=false',
    'PUT /tasks/task_1/file?offset=3&complete=false',
    'PUT /tasks/task_1/file?offset=6',
    'GET /tasks/task_1',
    'GET /tasks/task_1',
  ]);
});

test('what gets no answer is asked again, and a refusal ends it', async () => {
  const busy = { status: 503, body: {} };
  const { asks } = await run({ 'PUT /tasks/task_1/file?offset=6': ['away', busy] });
  assert.is(asks.filter((each) => each.endsWith('offset=6')).length, 3);
  const refusal = { status: 400, body: { message: 'The file is empty.' } };
  const refused = await run({ 'PUT /tasks/task_1/file?offset=6': [refusal] }).catch(
    (error: unknown) => error,
  );
  assert.instance(refused, OperatorError);
});

test.run();
