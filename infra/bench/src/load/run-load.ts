import { inProcess } from '../in-process.ts';
import type { LoadResult, Plan } from './plan.ts';

const program = new URL('./generator-process.ts', import.meta.url);

/** Runs a load in a process of its own. Throws `OperatorError` when that process ends without a result. */
export const runLoad = (plan: Plan, nodeArguments: readonly string[] = []): Promise<LoadResult> =>
  inProcess(program, plan, nodeArguments);
