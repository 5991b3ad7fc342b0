import { type FieldProblem, type Problem, problemCodes } from '@counterfoil/kernel';

/** The page that explains the codes; the fragment is the code. */
export const problemsPath = '/docs/problems';

/** The one body of every failure (D4): known client contracts and RFC 9457 at once. */
export interface ProblemBody {
  readonly code: string;
  readonly message: string;
  readonly http_status_code: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly success: false;
  readonly error: { readonly code: string; readonly message: string };
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly instance: string;
  readonly errors?: readonly FieldProblem[];
}

/** The body of a failure; `instance` is the id of the request. */
export function problemBody(problem: Problem, requestId: string): ProblemBody {
  const { code, message, details, errors } = problem;
  const { status, title } = problemCodes[code];
  return {
    code,
    message,
    http_status_code: status,
    ...(details && { details }),
    success: false,
    error: { code, message },
    type: `${problemsPath}#${code}`,
    title,
    status,
    instance: requestId,
    ...(errors && { errors }),
  };
}
