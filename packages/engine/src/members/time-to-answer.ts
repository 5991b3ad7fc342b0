/** The time from the arrival of a request until its owner is waited for no more. */
const answerMilliseconds = 1_000;
/** An owner that is well answers in less, whatever was done before it was asked. */
const answerMillisecondsAtLeast = 250;

/**
 * The time for which the owner of a request is waited for, in milliseconds. A request that was begun here, on a long
 * stream that had to be read first, has taken much of its time before it is known that another process should decide
 * it: were the owner given all of its time besides, the caller would wait for both.
 *
 * @param taken the milliseconds since the request came
 */
export function timeToAnswer(taken: number): number {
  return Math.max(answerMilliseconds - taken, answerMillisecondsAtLeast);
}
