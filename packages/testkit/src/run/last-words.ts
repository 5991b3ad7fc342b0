/** The exit code of Node where the main module waits for a promise that nothing can settle any more. */
const UNSETTLED = 13;

/**
 * Makes a process say why it ends before its work is done: by an error that nobody caught, by a call of process.exit, or since
 * nothing is left to wait for. Node says the first by itself, but on a pipe whose reader is behind its words are lost.
 *
 * @param isDone whether the process ends as it should
 * @param print writes a whole text at once
 */
export function sayWhyItEnds(
  host: NodeJS.Process,
  isDone: () => boolean,
  print: (text: string) => void,
): void {
  const say = (why: string): void => print(`\n  FAIL  ${why}\n`);
  let calledAt: string | undefined;
  let hasThrown = false;
  host.on('uncaughtExceptionMonitor', (error, origin) => {
    hasThrown = true;
    say(`${origin}: ${error instanceof Error ? error.stack : String(error)}`);
  });
  const exit = host.exit.bind(host);
  host.exit = (code) => {
    calledAt ??= new Error().stack?.split('\n').slice(2).join('\n');
    return exit(code);
  };
  host.on('exit', (code) => {
    if (isDone() || hasThrown) return;
    if (calledAt !== undefined) say(`process.exit(${code}) was called\n${calledAt}`);
    else if (code === UNSETTLED) say('nothing is left that could settle what a test waits for');
    else say(`the process has nothing left to do, with exit code ${code}`);
  });
}
