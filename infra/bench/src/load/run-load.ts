import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '@counterfoil/cli/settings';
import type { LoadResult, Plan } from './plan.ts';

const program = fileURLToPath(new URL('./generator-process.ts', import.meta.url));

/**
 * Runs a load in a process of its own, so that neither this process nor the service's delay its
 * clock. Throws `OperatorError` when that process ends without a result.
 *
 * @param nodeArguments arguments for that process's Node
 */
export function runLoad(plan: Plan, nodeArguments: readonly string[] = []): Promise<LoadResult> {
  const child = fork(program, [], {
    execArgv: [...nodeArguments],
    // Plain JSON would turn the bytes of the outcomes into an object.
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    let result: LoadResult | null = null;
    child.once('message', (message: LoadResult) => {
      result = message;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (result) resolve(result);
      else
        reject(new OperatorError(`The load generator ended early: ${signal ?? `code ${code}`}.`));
    });
    child.send(plan);
  });
}
