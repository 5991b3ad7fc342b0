import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort, onPort, rememberedPorts } from './ports.ts';

const test = suite('ports');
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-ports-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

test('gives a port that can be listened on', async () => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
});

test('starts on another port when the chosen one was taken meanwhile, a few times', async () => {
  const tried: number[] = [];
  const failing = (count: number, message: string) => async (port: number) => {
    tried.push(port);
    if (tried.length <= count) throw new Error(message);
    return port;
  };
  const outcome = (given: number | undefined, count: number, message: string) => {
    tried.length = 0;
    return onPort(given, failing(count, message)).catch((error: Error) => error.message);
  };
  const taken = 'bind: Address already in use';
  assert.is(await outcome(undefined, 2, taken), tried.at(-1));
  assert.is(tried.length, 3);
  assert.is(await outcome(undefined, 9, taken), taken);
  assert.is(tried.length, 3);
  assert.is(await outcome(undefined, 1, 'no disk'), 'no disk');
  assert.is(tried.length, 1);
  assert.is(await outcome(4222, 1, taken), taken);
  assert.equal(tried, [4222]);
});

test('gives every name a port of its own and the same ones the next time', async () => {
  const names = ['api', 'postgres', 'nats'] as const;
  const first = await rememberedPorts(folder, names);
  assert.is(new Set(Object.values(first)).size, names.length);
  assert.equal(await rememberedPorts(folder, names), first);
});

test('chooses another port only for the name whose port is taken', async () => {
  const first = await rememberedPorts(folder, ['api', 'nats']);
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(first.api, '127.0.0.1', resolve);
  });
  const second = await rememberedPorts(folder, ['api', 'nats']);
  await new Promise((resolve) => server.close(resolve));
  assert.is.not(second.api, first.api);
  assert.is(second.nats, first.nats);
});

test('keeps the ports of names that are not asked for', async () => {
  const first = await rememberedPorts(folder, ['api']);
  await rememberedPorts(folder, ['nats']);
  assert.equal(await rememberedPorts(folder, ['api']), first);
});

test('never gives two names one port, even when they are remembered so', async () => {
  const port = await freePort();
  writeFileSync(join(folder, 'ports.json'), JSON.stringify({ api: port, nats: port }));
  const chosen = await rememberedPorts(folder, ['api', 'nats']);
  assert.is(chosen.api, port);
  assert.is.not(chosen.nats, port);
});

test.run();
