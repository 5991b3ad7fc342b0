import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '@counterfoil/cli/settings';
import { batchLauncher } from '@counterfoil/local';

/**
 * Has an order carried out by a program in a process of its own, so that neither this process nor the service's delay
 * its clock. Throws `OperatorError` when that process ends without a result.
 *
 * @param nodeArguments arguments for that process's Node
 */
export function inProcess<Order extends object, Outcome>(
  program: URL,
  order: Order,
  nodeArguments: readonly string[] = [],
): Promise<Outcome> {
  // It stands for machines elsewhere, which wake up without interrupting a server here.
  const [execPath = process.execPath, ...launcher] = [...batchLauncher, process.execPath];
  const child = fork(fileURLToPath(program), [], {
    execPath,
    execArgv: [...launcher, ...nodeArguments],
    // Plain JSON would turn bytes into an object.
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    let outcome: Outcome | null = null;
    child.once('message', (message: Outcome) => {
      outcome = message;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (outcome) resolve(outcome);
      else
        reject(new OperatorError(`The load generator ended early: ${signal ?? `code ${code}`}.`));
    });
    child.send(order);
  });
}
