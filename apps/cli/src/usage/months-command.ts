import type { Command } from 'commander';

type Print = (line: string) => void;

/** Adds `months | drop | refill` to the commands of usage: of whoever operates the servers, for all tenants together. */
export function addMonthsCommands(usage: Command, print: Print): void {
  usage
    .command('months')
    .description('print the months of usage, and which of them are kept event by event')
    .action(async () => (await import('./change-months.ts')).showMonths(print));
  usage
    .command('drop')
    .description(
      'keep the usage of months no longer event by event, while everything keeps running',
    )
    .argument('<months...>', 'such as 2026-03')
    .action(async (months: string[]) =>
      (await import('./change-months.ts')).changeMonths(months, 'dropped', print),
    );
  usage
    .command('refill')
    .description('bring dropped months back from the log, while everything keeps running')
    .argument('<months...>', 'such as 2026-03')
    .action(async (months: string[]) =>
      (await import('./change-months.ts')).changeMonths(months, 'kept', print),
    );
}
