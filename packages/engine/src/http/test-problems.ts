import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type ProblemCode, problemCodes } from '@counterfoil/kernel';
import type { Answer } from './test-machine.ts';

/** Checks that an answer is this failure, in the one shape, with nothing besides. */
export function assertProblem(answer: Answer, code: ProblemCode): void {
  const { status, title } = problemCodes[code];
  equal(answer.status, status, answer.text);
  equal(answer.headers.get('content-type'), 'application/json');
  const { details, errors, ...fixed } = answer.problem();
  ok(fixed.message.length > 0);
  deepEqual(fixed, {
    code,
    message: fixed.message,
    http_status_code: status,
    success: false,
    error: { code, message: fixed.message },
    type: `/docs/problems#${code}`,
    title,
    status,
    instance: answer.headers.get('x-request-id'),
  });
  equal('details' in answer.problem(), details !== undefined);
  equal('errors' in answer.problem(), errors !== undefined);
}

/** Checks that an answer is a 400 that names this place first, with a message of this form. */
export function assertInvalid(answer: Answer, pointer: string, message: RegExp): void {
  assertProblem(answer, 'validation_error');
  const [error] = answer.problem().errors ?? [];
  equal(error?.pointer, pointer);
  match(error?.message ?? '', message);
}
