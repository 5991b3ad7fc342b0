import { type ProblemCode, problemCodes } from '@counterfoil/kernel';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';

interface FieldError {
  readonly pointer: string;
  readonly message: string;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;

/** Members of a body, beside the fixed ones, that a failure may have. */
function optionalMembers({ details, errors }: Answer['body']): object {
  if (details !== undefined) {
    assert.ok(typeof details === 'object' && details !== null && !Array.isArray(details));
  }
  if (errors !== undefined) {
    assert.ok(Array.isArray(errors) && errors.length > 0);
    for (const error of errors as FieldError[]) {
      assert.equal(Object.keys(error).sort(), ['message', 'pointer']);
      assert.match(error.pointer, /^(\/([^~]|~[01])*)?$/);
      assert.ok(isText(error.message));
    }
  }
  return { ...(details !== undefined && { details }), ...(errors !== undefined && { errors }) };
}

function assertHeaders({ status, headers }: Answer): void {
  assert.is(headers.get('content-type'), 'application/json');
  assert.is(headers.get('cache-control'), 'no-store');
  assert.is(headers.has('retry-after'), status === 429 || status === 503);
  assert.is(headers.has('www-authenticate'), status === 401);
  assert.is(headers.has('allow'), status === 405);
}

/**
 * Checks that an answer is this failure in the one shape (D4): every member of the body,
 * no other member, and the headers that belong to it.
 */
export function assertProblem(answer: Answer, code: ProblemCode): void {
  const { body, headers } = answer;
  const { status, title } = problemCodes[code];
  assert.is(answer.status, status, answer.text);
  assert.ok(isText(body.message), answer.text);
  assert.equal(
    body,
    {
      code,
      message: body.message,
      http_status_code: status,
      success: false,
      error: { code, message: body.message },
      type: `/docs/problems#${code}`,
      title,
      status,
      instance: headers.get('x-request-id'),
      ...optionalMembers(body),
    },
    answer.text,
  );
  assertHeaders(answer);
}

/** The JSON pointers that a failure names. */
export const pointersIn = ({ body }: Answer): string[] =>
  ((body?.errors ?? []) as FieldError[]).map(({ pointer }) => pointer);
