import type { Task } from '@counterfoil/modules';
import type { ApiAnswer } from '../http-api.ts';
import { bodyOf } from '../http-api.ts';
import { OperatorError } from '../settings.ts';

/** The way in which the command talks to the API. */
export interface TaskCalls {
  readonly call: (method: string, path: string, body?: unknown) => Promise<ApiAnswer>;
  /** Sends a part of a file as it is. */
  readonly send: (path: string, part: Uint8Array) => Promise<ApiAnswer>;
  readonly pause: () => Promise<unknown>;
  readonly onProgress: (task: Task) => void;
}

/** A file and what is in it. */
export interface AskedImport {
  readonly entity_type: string;
  readonly file_type: string;
  readonly file_name: string;
  readonly on_existing: string;
}

/** Parts that are sent without an answer of use in between, before it is given up. */
const attemptsMaximum = 30;

/**
 * Makes a task, sends it a file in parts, and follows it to its end. A part without an answer is looked for and sent again from
 * where the file is. Throws `OperatorError` when the service stays away or refuses.
 */
export async function importFile(
  asked: AskedImport,
  parts: AsyncIterable<Uint8Array>,
  { call, send, pause, onProgress }: TaskCalls,
): Promise<Task> {
  const made = await call('POST', '/tasks', { task_type: 'IMPORT', ...asked });
  const { id } = bodyOf(made) as Task;
  const file = `/tasks/${id}/file`;
  let offset = 0;
  for await (const part of parts) {
    await untilAnswered(() => send(`${file}?offset=${offset}&complete=false`, part), pause);
    offset += part.length;
  }
  await untilAnswered(() => call('PUT', `${file}?offset=${offset}`), pause);
  for (;;) {
    const task = bodyOf(await untilAnswered(() => call('GET', `/tasks/${id}`), pause)) as Task;
    onProgress(task);
    if (task.task_status === 'COMPLETED' || task.task_status === 'FAILED') return task;
    await pause();
  }
}

/** The answer, once there is one that is final. A part that arrived although its answer did not is there at its place. */
async function untilAnswered(
  ask: () => Promise<ApiAnswer>,
  pause: TaskCalls['pause'],
): Promise<ApiAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask().catch((error: unknown) => {
      if (error instanceof OperatorError && attempt < attemptsMaximum) return null;
      throw error;
    });
    const isFinal = answer !== null && answer.status < 500 && answer.status !== 429;
    if (isFinal || (answer !== null && attempt >= attemptsMaximum)) {
      bodyOf(answer);
      return answer;
    }
    await pause();
  }
}
