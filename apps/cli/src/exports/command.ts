import type { Command } from 'commander';
import { ask, type PlaceOptions, withPlace } from '../api-options.ts';
import { OperatorError } from '../settings.ts';
import { rangesOf, runLine, type ShownRun, type ShownSchedule, scheduleLine } from './lines.ts';

interface Page<Item> {
  readonly items: readonly Item[];
}

interface RangeOptions extends PlaceOptions {
  readonly from?: string;
  readonly to?: string;
}

/** Runs of one scheduled task that `status` shows. */
const shownRuns = 20;

/** Adds `exports run | status | backfill` to the program. */
export function addExportsCommand(program: Command, print: (line: string) => void): void {
  const exports = program.command('exports').description('scheduled exports, and their runs');

  withPlace(exports.command('run'))
    .description('run a scheduled task now: for a range, or for the interval that runs')
    .argument('<id>', 'of the scheduled task')
    .option('--from <instant>', 'start of the range')
    .option('--to <instant>', 'end of the range, which is not part of it')
    .action(async (id: string, { from, to, ...place }: RangeOptions) => {
      const range = { ...(from && { start_time: from }), ...(to && { end_time: to }) };
      print(await begun(place, id, range));
    });

  withPlace(exports.command('status'))
    .description('print the scheduled tasks, or one with its last runs')
    .argument('[id]', 'of the scheduled task')
    .action(async (id: string | undefined, place: PlaceOptions) => {
      if (id === undefined) {
        const path = '/tasks/scheduled?limit=1000';
        const { items } = await ask<Page<ShownSchedule>>(place, 'GET', path);
        if (items.length === 0) print('There are no scheduled tasks.');
        for (const schedule of items) print(scheduleLine(schedule));
        return;
      }
      print(scheduleLine(await ask(place, 'GET', `/tasks/scheduled/${idOf(id)}`)));
      const path = `/tasks?scheduled_task_id=${id}&limit=${shownRuns}`;
      const { items } = await ask<Page<ShownRun>>(place, 'GET', path);
      if (items.length === 0) print('It has no runs yet.');
      for (const run of items) print(runLine(run));
    });

  withPlace(exports.command('backfill'))
    .description('run a scheduled task for each interval of a range, oldest first')
    .argument('<id>', 'of the scheduled task')
    .requiredOption('--from <instant>', 'start of the first interval')
    .requiredOption('--to <instant>', 'end of the last one')
    .action(async (id: string, { from, to, ...place }: Required<RangeOptions>) => {
      const schedule = await ask<ShownSchedule>(place, 'GET', `/tasks/scheduled/${idOf(id)}`);
      for (const { start, end } of rangesOf(schedule, from, to)) {
        print(await begun(place, id, { start_time: start, end_time: end }));
      }
    });
}

async function begun(place: PlaceOptions, id: string, range: object): Promise<string> {
  const path = `/tasks/scheduled/${idOf(id)}/run`;
  const run = await ask<{
    readonly task_id: string;
    readonly start_time: string;
    readonly end_time: string;
  }>(place, 'POST', path, range);
  return `${run.task_id}  ${run.start_time} to ${run.end_time}`;
}

function idOf(text: string): string {
  if (!/^\w+$/.test(text)) throw new OperatorError(`"${text}" is no id.`);
  return text;
}
