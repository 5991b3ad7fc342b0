import { ForeignLog, ProjectorActive, RebuildFailed } from '@counterfoil/engine';
import { Problem } from '@counterfoil/kernel';
import type { Command } from 'commander';
import { OperatorError } from './settings.ts';

/** Errors that need no stack: their message says everything. */
const toldInOneSentence = [OperatorError, Problem, ForeignLog, RebuildFailed, ProjectorActive];

/** Runs a command line. An error that is for the operator becomes one message and exit code 1. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (!toldInOneSentence.some((kind) => error instanceof kind)) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
