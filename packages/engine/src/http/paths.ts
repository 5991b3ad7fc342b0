import { Problem } from '@counterfoil/kernel';
import type { Express, RequestHandler } from 'express';
import { sendNothing } from './respond.ts';
import type { Step } from './steps.ts';

/** Answers OPTIONS, and 405 to every other method that a known path does not have. */
export function otherMethods(methods: readonly string[]): Step {
  const known = ['OPTIONS', ...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
  const allow = known.join(', ');
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      sendNothing(response, 204);
      return;
    }
    const message = `This path does not take ${request.method}. It takes ${allow}.`;
    throw new Problem('method_not_allowed', message, { details: { allow: known } });
  };
}

/** Mounts a path that only GET reads. */
export function mountPage(application: Express, path: string, answer: RequestHandler): void {
  application
    .route(path)
    .get(answer)
    .all(otherMethods(['GET']));
}
