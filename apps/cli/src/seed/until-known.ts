import { setTimeout as pause } from 'node:timers/promises';
import { type ApiPlace, bodyOf, callApi, refusalCode } from '../http-api.ts';

const knownMilliseconds = 10_000;
const pollMilliseconds = 50;

/** Waits until the API knows a key that has just been made. Throws `OperatorError` when it never does. */
export async function untilKnown(place: ApiPlace): Promise<void> {
  const deadline = Date.now() + knownMilliseconds;
  for (;;) {
    const answer = await callApi(place, 'GET', '/users/me');
    if (refusalCode(answer) !== 'unauthenticated' || Date.now() > deadline) {
      bodyOf(answer);
      return;
    }
    await pause(pollMilliseconds);
  }
}
