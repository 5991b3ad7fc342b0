import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from './log.ts';
import { installShutdown } from './shutdown.ts';

const test = suite('shutdown');

/** A process that remembers its exit codes instead of ending. */
class FakeProcess extends EventEmitter {
  readonly codes: number[] = [];
  exit(code: number): void {
    this.codes.push(code);
    this.emit('exited');
  }
}

const install = (hookTimeoutMs = 1_000) => {
  const host = new FakeProcess();
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  const log = createLog({ level: 'info', name: 'test', destination });
  const shutdown = installShutdown({ log, process: host, hookTimeoutMs });
  const end = async (signal: string) => {
    const exited = once(host, 'exited');
    host.emit(signal, signal);
    await exited;
  };
  return { host, lines, shutdown, end };
};

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} runs the hooks in reverse order and exits 0`, async () => {
    const { host, shutdown, end } = install();
    const order: string[] = [];
    for (const name of ['database', 'store', 'http']) {
      shutdown.onShutdown(name, async () => {
        await Promise.resolve();
        order.push(name);
      });
    }
    await end(signal);
    assert.equal(order, ['http', 'store', 'database']);
    assert.equal(host.codes, [0]);
  });
}

test('is not ready from the signal on, while hooks still run', async () => {
  const { shutdown, end } = install();
  let message = '';
  shutdown.onShutdown('http', async () => {
    await shutdown.readiness.check().catch((error: Error) => {
      message = error.message;
    });
  });
  await shutdown.readiness.check();
  await end('SIGTERM');
  assert.is(message, 'the process is stopping');
});

test('a hook that fails or does not end is left behind, and the exit code says so', async () => {
  const { host, lines, shutdown, end } = install(20);
  let isLastStopped = false;
  shutdown.onShutdown('first', () => {
    isLastStopped = true;
  });
  shutdown.onShutdown('hanging', () => new Promise<void>(() => {}));
  shutdown.onShutdown('broken', () => {
    throw new Error('cannot');
  });
  await end('SIGTERM');
  assert.ok(isLastStopped);
  assert.equal(host.codes, [1]);
  const failed = lines.filter(({ hook }) => hook !== undefined).map(({ hook }) => hook);
  assert.equal(failed, ['broken', 'hanging']);
});

test('a second signal exits at once', async () => {
  const { host, shutdown } = install();
  shutdown.onShutdown('hanging', () => new Promise<void>(() => {}));
  host.emit('SIGINT', 'SIGINT');
  host.emit('SIGINT', 'SIGINT');
  assert.equal(host.codes, [1]);
});

for (const event of ['uncaughtException', 'unhandledRejection']) {
  test(`${event} is logged as fatal and exits 1 without waiting`, () => {
    const { host, lines } = install();
    host.emit(event, new Error('nobody caught this'));
    assert.equal(host.codes, [1]);
    assert.is(lines[0]?.level, 60);
    assert.match(JSON.stringify(lines[0]), /nobody caught this/);
  });
}

test('ends a real process', async () => {
  const here = new URL('.', import.meta.url).href;
  const program = `
    import { createLog } from '${here}log.ts';
    import { installShutdown } from '${here}shutdown.ts';
    const shutdown = installShutdown({ log: createLog({ level: 'info', name: 'child' }) });
    const open = setInterval(() => {}, 1000);
    shutdown.onShutdown('hook', () => { clearInterval(open); process.stdout.write('hook ran\\n'); });
    process.stdout.write('up\\n');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!output.includes('up\n') && (output + text).includes('up\n')) child.kill('SIGTERM');
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  assert.is(code, 0);
  assert.match(output, 'hook ran\n');
  assert.match(output, /"reason":"SIGTERM"[\s\S]*"msg":"stopped"/);
});

test.run();
