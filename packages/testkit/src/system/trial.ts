import * as assert from 'uvu/assert';
import { type Answer, type Caller, isRead } from '../caller.ts';
import type { SharedStack } from '../stack.ts';
import { type ExampleRequest, exampleRequest, type Place, send } from './examples.ts';
import type { Operation } from './operations.ts';
import { assertProblem, pointersIn } from './problem-answer.ts';
import type { Records } from './records.ts';
import { type WatchedRequests, watchRequests } from './stored-requests.ts';
import { bodyText, type WrongValue } from './wrong-values.ts';

const atOnce = 8;

/** Does work on all items, a few at a time. */
export async function forAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** An operation under test, with requests whose traces in the log are watched. */
export interface Trial {
  readonly operation: Operation;
  readonly watched: WatchedRequests;
  readonly base: ExampleRequest;
  readonly send: (
    request: ExampleRequest,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
}

/** A running stack, the records to try its operations on, and what it documents. */
export interface Trials {
  readonly stack: SharedStack;
  readonly own: Records;
  readonly operations: ReadonlyMap<string, Operation>;
  /** The examples of operations whose records are as they were made, so that they serve one test after another. */
  readonly unspent: Map<string, ExampleRequest>;
}

/** The example of an operation, on records that no request has changed. Those that only read have them together. */
export async function unspentExample({ own, operations, unspent }: Trials, key: string) {
  const records = own.makerFor(operationOf(operations, key));
  const example = unspent.get(key) ?? (await exampleRequest(records, key));
  unspent.set(key, example);
  return example;
}

function operationOf(operations: Trials['operations'], key: string): Operation {
  const operation = operations.get(key);
  if (!operation) throw new Error(`${key} is not documented`);
  return operation;
}

/** Prepares the trial of an operation; `what` is part of the ids of its requests. */
export async function trialOf(trials: Trials, key: string, what: string): Promise<Trial> {
  const { stack, own, operations, unspent } = trials;
  const operation = operationOf(operations, key);
  const name = `${what}_${key}`.replaceAll(/\W/g, '_');
  const call: Caller['call'] = async (method, path, ...rest) => {
    const answer = await own.tenant.call(method, path, ...rest);
    if (answer.status < 400 && !isRead(method, path)) unspent.delete(key);
    return answer;
  };
  const watched = await watchRequests(stack.store, { call }, name);
  return {
    operation,
    watched,
    base: await unspentExample(trials, key),
    send: (request, headers) => {
      const body = request.body === undefined ? {} : { body: bodyText(request.body) };
      return send(watched, operation, { ...request, ...body }, headers);
    },
  };
}

/** The place of a value in a request. */
export const placeOf = ({ part, path }: Pick<WrongValue, 'part' | 'path'>): Place =>
  `${part}.${path.join('.')}`;

/** Writes down what was asked and answered, for the message of a failing test. */
export const describe = (request: ExampleRequest, answer: Answer): string =>
  `${JSON.stringify(request).slice(0, 1_000)} was answered ${answer.status}: ${answer.text.slice(0, 500)}`;

const isAt = (pointer: string, path: readonly (string | number)[]): boolean => {
  const place = `/${path.join('/')}`;
  return pointer === place || pointer.startsWith(`${place}/`);
};

/** A 400 that says which place is wrong, there or below it. */
export function assertRefusedAt(
  answer: Answer,
  { part, path }: Pick<WrongValue, 'part' | 'path'>,
  request: ExampleRequest,
): void {
  assert.is(answer.status, 400, describe(request, answer));
  assertProblem(answer, 'validation_error');
  const pointers = pointersIn(answer);
  // A number that JSON cannot carry is found before it is known where it stands.
  const isNamed = pointers.some((pointer) => pointer === '' || isAt(pointer, path));
  assert.ok(isNamed, describe(request, answer));
  assert.is(answer.body.details?.in, part === 'body' ? undefined : part);
}

/** Any answer but a failure of ours: success, or a refusal in the one shape. */
export function assertAnswered(
  answer: Answer,
  operation: Operation,
  request: ExampleRequest,
): void {
  const message = describe(request, answer);
  assert.ok(answer.status < 500, message);
  assert.ok(operation.statuses.includes(answer.status), message);
  if (answer.status < 400) {
    assert.is(answer.status, operation.success, message);
    return;
  }
  assertProblem(answer, answer.body.code);
  if (answer.body.code === 'validation_error') assert.ok(pointersIn(answer).length > 0, message);
}
