import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ask, type PlaceOptions, withPlace } from '../api-options.ts';
import { environmentOf, OperatorError, readSettings } from '../settings.ts';
import { clockLine, followAdvance, type ShownClock } from './follow-advance.ts';

interface ClockOptions extends PlaceOptions {
  readonly environment?: string;
}

const pollMilliseconds = 250;

/** Adds `clock show | set | advance | remove` to the program. */
export function addClockCommand(program: Command, print: (line: string) => void): void {
  const clock = program
    .command('clock')
    .description('the test clock of a development environment, which moves only when told to');

  inEnvironment(clock.command('show'))
    .description('print how the clock stands')
    .action(async (options: ClockOptions) => print(clockLine(await shownClock(options))));

  inEnvironment(clock.command('set'))
    .description('give the environment a test clock that stands at an instant')
    .argument('<instant>', 'RFC 3339, such as 2026-01-31T09:00:00Z')
    .action(async (now: string, options: ClockOptions) =>
      print(clockLine(await askClock<ShownClock>(options, 'PUT', '', { now }))),
    );

  inEnvironment(clock.command('advance'))
    .description('move the clock, with everything that falls due on the way, and wait for its end')
    .argument('<instant>', 'RFC 3339; not before the time of the clock')
    .option('--stop-at-next-effect', 'stand at the first instant at which something is due', false)
    .action(async (to: string, options: ClockOptions & { readonly stopAtNextEffect: boolean }) => {
      const body = { to, stop_at_next_effect: options.stopAtNextEffect };
      await askClock(options, 'POST', '/advance', body);
      const rest = () => pause(pollMilliseconds);
      await followAdvance(() => shownClock(options), print, rest);
    });

  inEnvironment(clock.command('remove'))
    .description("give the environment back to the system's clock")
    .action(async (options: ClockOptions) => {
      await askClock(options, 'DELETE', '');
      print('Removed.');
    });
}

const inEnvironment = (command: Command): Command =>
  withPlace(command).option('--environment <id>', 'by default the one of the demo tenant');

const shownClock = (options: ClockOptions): Promise<ShownClock> => askClock(options, 'GET', '');

async function askClock<Body>(
  { environment, ...place }: ClockOptions,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const id = environment ?? environmentOf(readSettings());
  if (!/^\w+$/.test(id)) throw new OperatorError(`"${id}" is no id.`);
  return ask(place, method, `/environments/${id}/clock${path}`, body);
}
