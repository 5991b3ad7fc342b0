/** Writes lines to its standard output and ends in the way that its argument names, for the tests of this folder. */
import { createLog } from './log.ts';
import { lostLines, standardOutput } from './log-output.ts';
import { installShutdown } from './shutdown.ts';

const [ending, count = '0'] = process.argv.slice(2);
const log = createLog({ level: 'info', name: 'test' });
const shutdown = installShutdown({ log });
const write = (): void => {
  for (let number = 1; number <= Number(count); number += 1) log.info({ number }, 'request');
};

switch (ending) {
  case 'end':
    write();
    break;
  case 'stop':
    write();
    await shutdown.stop('test');
    break;
  case 'throw':
    setImmediate(() => {
      write();
      throw new Error('broken');
    });
    break;
  case 'warn':
    write();
    log.warn('look');
    // Nothing of this thread can write them any more.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    break;
  case 'unheard':
    write();
    process.stderr.write(`${lostLines()}\n`);
    process.stdin.on('end', () => standardOutput().flushSync());
    process.stdin.resume();
    break;
  default:
    throw new Error(`unknown ending ${ending}`);
}
