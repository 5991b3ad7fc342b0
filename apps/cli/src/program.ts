import type { Command } from 'commander';
import { OperatorError } from './settings.ts';

/** The exit code for a fault that the operator has to put right. */
const usageError = 2;
/** The exit code when something is wrong with the log or what came from it. */
const finding = 1;

/**
 * Runs a command line. An error that is for the operator becomes one message and exit code 2, and so does
 * a command line that is wrong; an event that stops a rebuild is exit code 1, as a finding of `verify` is.
 */
export async function runProgram(program: Command): Promise<void> {
  for (const command of withCommands(program)) {
    command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageError));
  }
  try {
    await program.parseAsync();
  } catch (error) {
    const { message, exitCode } = await explained(error);
    if (message === null) throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}

/** The engine is loaded for its own errors only: most commands that fail do so without it. */
async function explained(error: unknown) {
  if (error instanceof OperatorError) return { message: error.message, exitCode: usageError };
  const { explain, RebuildStopped } = await import('@counterfoil/engine');
  const exitCode = error instanceof RebuildStopped ? finding : usageError;
  return { message: explain(error), exitCode };
}

const withCommands = (program: Command): Command[] => [
  program,
  ...program.commands.flatMap(withCommands),
];
