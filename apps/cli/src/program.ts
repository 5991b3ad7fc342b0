import { explain } from '@counterfoil/engine';
import type { Command } from 'commander';
import { OperatorError } from './settings.ts';

/**
 * The exit code for a fault that the operator has to put right; 1 means that a check has found
 * something.
 */
const usageError = 2;

/**
 * Runs a command line. An error that is for the operator becomes one message and exit code 2, and so does
 * a command line that is wrong.
 */
export async function runProgram(program: Command): Promise<void> {
  for (const command of withCommands(program)) {
    command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageError));
  }
  try {
    await program.parseAsync();
  } catch (error) {
    const message = error instanceof OperatorError ? error.message : explain(error);
    if (message === null) throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = usageError;
  }
}

const withCommands = (program: Command): Command[] => [
  program,
  ...program.commands.flatMap(withCommands),
];
