import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AttackAnswers, AttackOrder } from './attacks.ts';

const program = fileURLToPath(new URL('./attacker-process.ts', import.meta.url));

/**
 * Attacks from a process of its own until some work is done. Rejects as the work does; an attacker that
 * ends before is a failure too.
 */
export async function attackDuring(
  order: AttackOrder,
  work: Promise<unknown>,
): Promise<AttackAnswers> {
  const attacker = fork(program, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(attacker, 'exit').then(() => {
    throw new Error('The attacker ended early.');
  });
  try {
    attacker.send(order);
    await Promise.race([work, ended]);
    const told = once(attacker, 'message');
    attacker.send('stop');
    const [answers] = await Promise.race([told, ended]);
    return answers as AttackAnswers;
  } finally {
    ended.catch(() => undefined);
    attacker.kill();
  }
}
