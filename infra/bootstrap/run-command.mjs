import { spawn } from 'node:child_process';

/** Only the end of a long output is kept: that is where programs say what went wrong. */
const OUTPUT_LIMIT_CHARACTERS = 20_000;

/**
 * Runs a program to its end with no standard input, collecting what it prints.
 *
 * @param {string} command
 * @param {string[]} commandArguments
 * @param {{ cwd?: string, environment: Record<string, string | undefined>, limitMs: number }} options
 *   limitMs: the program is killed when it takes longer
 * @returns {Promise<{ succeeded: boolean, output: string }>} never rejects; a program that cannot be
 *   started is a failure with the reason as output
 */
export function runCommand(command, commandArguments, options) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, commandArguments, {
      cwd: options.cwd,
      env: options.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.limitMs,
      killSignal: 'SIGKILL',
    });
    const collect = (chunk) => {
      output = (output + chunk).slice(-OUTPUT_LIMIT_CHARACTERS);
    };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => resolve({ succeeded: false, output: error.message }));
    child.on('close', (code, signal) => {
      if (signal !== null) collect(`\n${command} was ended by ${signal}`);
      resolve({ succeeded: code === 0, output: output.trim() });
    });
  });
}
