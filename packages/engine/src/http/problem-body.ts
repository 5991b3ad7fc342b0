import { type Problem, type ProblemCode, problemCodes } from '@counterfoil/kernel';
import { z } from 'zod';

/** The page that explains the codes; the fragment is the code. */
export const problemsPath = '/docs/problems';

/** Every code with its status and its meaning, in Markdown. */
const codeList = Object.entries(problemCodes)
  .map(([code, { status, title }]) => `- \`${code}\` (${status}): ${title}`)
  .join('\n');

/** The one body of every failure (D4): known client contracts and RFC 9457 at once. */
export const problemSchema = z
  .object({
    code: z
      .enum(Object.keys(problemCodes) as [ProblemCode, ...ProblemCode[]])
      .meta({ description: `What is wrong, for programs:\n\n${codeList}` }),
    message: z.string().meta({ description: 'For people: what is wrong and what to do about it' }),
    http_status_code: z.int(),
    details: z.record(z.string(), z.unknown()).optional(),
    success: z.literal(false),
    error: z.object({ code: z.string(), message: z.string() }),
    type: z.string().meta({ description: 'Page of the code' }),
    title: z.string(),
    status: z.int(),
    instance: z.string().meta({ description: 'Id of the request' }),
    errors: z
      .array(
        z.object({
          pointer: z.string().meta({
            description:
              'JSON pointer (RFC 6901) into the body, or into the part `details.in` names',
          }),
          message: z.string(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Problem', description: 'The body of every failure' });
export type ProblemBody = z.output<typeof problemSchema>;

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
    ...(errors && { errors: [...errors] }),
  };
}
