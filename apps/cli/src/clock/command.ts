import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type PlaceOptions, placeOf, withPlace } from '../api-options.ts';
import { bodyOf, callApi } from '../http-api.ts';
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
      print(clockLine((await ask(options, 'PUT', '', { now })) as ShownClock)),
    );

  inEnvironment(clock.command('advance'))
    .description('move the clock, with everything that falls due on the way, and wait for its end')
    .argument('<instant>', 'RFC 3339; not before the time of the clock')
    .option('--stop-at-next-effect', 'stand at the first instant at which something is due', false)
    .action(async (to: string, options: ClockOptions & { readonly stopAtNextEffect: boolean }) => {
      const body = { to, stop_at_next_effect: options.stopAtNextEffect };
      await ask(options, 'POST', '/advance', body);
      const rest = () => pause(pollMilliseconds);
      await followAdvance(() => shownClock(options), print, rest);
    });

  inEnvironment(clock.command('remove'))
    .description("give the environment back to the system's clock")
    .action(async (options: ClockOptions) => {
      await ask(options, 'DELETE', '');
      print('Removed.');
    });
}

const inEnvironment = (command: Command): Command =>
  withPlace(command).option('--environment <id>', 'by default the one of the demo tenant');

const shownClock = async (options: ClockOptions): Promise<ShownClock> =>
  (await ask(options, 'GET', '')) as ShownClock;

async function ask(
  { environment, ...place }: ClockOptions,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const id = environment ?? environmentOf(readSettings());
  if (!/^\w+$/.test(id)) throw new OperatorError(`"${id}" is no id.`);
  const address = `/environments/${id}/clock${path}`;
  return bodyOf(await callApi(placeOf(place), method, address, body === undefined ? {} : { body }));
}
