import { Problem } from '@counterfoil/kernel';
import type { Step } from './steps.ts';

/** Answers OPTIONS, and 405 to every other method that a known path does not have. */
export function otherMethods(methods: readonly string[]): Step {
  const known = ['OPTIONS', ...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
  const allow = known.join(', ');
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      response.statusCode = 204;
      response.end();
      return;
    }
    const message = `This path does not take ${request.method}. It takes ${allow}.`;
    throw new Problem('method_not_allowed', message, { details: { allow: known } });
  };
}
