/** Relays that can be killed, and readers that keep what they got, for the tests of this folder. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { followPublicStream } from '../nats/nats-reader.ts';
import { silentLog as log } from '../projection/test-world.ts';
import type { Stack } from './test-stack.ts';

/** Starts a relay in a process of its own and waits until it works. */
export async function forkRelay({ storeUrl, natsUrl, directory }: Stack): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./test-relay-process.ts', import.meta.url));
  const child = fork(file, [storeUrl, natsUrl, join(directory, 'checkpoint.json')]);
  await once(child, 'message');
  return child;
}

/** Collects what a reader gets, as text and sequence, until it is stopped. */
export async function collect(stack: Stack) {
  const abort = new AbortController();
  const bodies: string[] = [];
  const sequences: number[] = [];
  const options = { nats: await stack.nats(), after: null, signal: abort.signal, log };
  const reading = (async () => {
    for await (const batch of followPublicStream(options)) {
      for (const { body, sequence } of batch.messages) {
        bodies.push(new TextDecoder().decode(body));
        sequences.push(sequence);
      }
    }
  })();
  return {
    bodies,
    sequences,
    stop: async () => {
      abort.abort();
      await reading;
    },
  };
}
