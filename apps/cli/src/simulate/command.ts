import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { type PlaceOptions, placeOf, withPlace } from '../api-options.ts';
import { environmentOf, OperatorError, readSettings } from '../settings.ts';
import { simulate } from './simulate.ts';

interface SimulateOptions extends PlaceOptions {
  readonly environment?: string;
  readonly from?: string;
  readonly months: number;
  readonly currency: string;
  readonly period: string;
  readonly trialDays?: number;
  readonly cancelAt?: string;
  readonly proration: boolean;
}

const pollMilliseconds = 250;
const monthsMaximum = 120;

/** Adds `simulate` to the program. */
export function addSimulateCommand(program: Command, print: (line: string) => void): void {
  withPlace(program.command('simulate'))
    .description(
      'live a subscription to a plan through a year, in a copy of the catalogue with a test clock, and print its timeline',
    )
    .argument('<plan_lookup_key>')
    .option('--environment <id>', 'whose catalogue is copied; by default that of the demo tenant')
    .option('--from <instant>', 'its start, by default the next midnight in UTC')
    .option('--months <number>', 'months that are lived through', wholeNumber, 12)
    .option('--currency <code>', 'of the prices', 'usd')
    .option('--period <period>', 'the billing period', 'MONTHLY')
    .option('--trial-days <number>', 'by default as the plan says', wholeNumber)
    .option('--cancel-at <instant>', 'its end')
    .option('--no-proration', 'charge and credit no parts of periods')
    .action(async (plan: string, options: SimulateOptions) => {
      const { environment, months, proration, currency, period, trialDays, cancelAt } = options;
      const from = options.from ?? nextMidnight(new Date());
      const terms = { plan, currency, period, trialDays, cancelAt, prorates: proration };
      await simulate(
        placeOf(options),
        {
          ...terms,
          environment: idOf(environment ?? environmentOf(readSettings())),
          from,
          to: monthsAfter(from, months),
        },
        print,
        () => pause(pollMilliseconds),
      );
    });
}

function idOf(environment: string): string {
  if (!/^\w+$/.test(environment)) throw new OperatorError(`"${environment}" is no id.`);
  return environment;
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= monthsMaximum) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${monthsMaximum}.`);
}

/** Prices that are there now hold at the next midnight as well. */
function nextMidnight(now: Date): string {
  const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  return new Date(day).toISOString();
}

function monthsAfter(from: string, months: number): string {
  const date = new Date(from);
  if (Number.isNaN(date.getTime())) throw new OperatorError(`"${from}" is no instant.`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString();
}
