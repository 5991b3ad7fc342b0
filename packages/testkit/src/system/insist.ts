import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../caller.ts';
import { patienceMilliseconds } from '../eventually.ts';

const requestMilliseconds = 20_000;
const repeatMilliseconds = 50;

/**
 * Sends a request as a careful client does: after a broken connection, or an answer that says that the service is
 * at fault, it repeats the request until there is a final answer. Throws when that is a refusal or never comes.
 */
export async function untilAccepted(send: () => Promise<Answer>, what: string): Promise<Answer> {
  const deadline = Date.now() + patienceMilliseconds;
  let last = 'no answer';
  while (Date.now() < deadline) {
    const answer = await once(send);
    if (typeof answer !== 'string') {
      if (answer.status < 300) return answer;
      last = `${answer.status} ${answer.text}`;
      if (answer.status < 500) break;
    } else {
      last = answer;
    }
    await pause(repeatMilliseconds);
  }
  throw new Error(`${what} was not acknowledged: ${last}`);
}

/** The answer, or why there was none. */
const once = (send: () => Promise<Answer>): Promise<Answer | string> =>
  Promise.race([
    send().catch(String),
    pause(requestMilliseconds, 'no answer in time', { ref: false }),
  ]);
