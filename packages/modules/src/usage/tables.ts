import type { FactTables } from '@counterfoil/engine/define';
import { customer } from '../customers/index.ts';
import { meter } from '../meters/index.ts';
import { comparedUsage, createUsageTables, type UsageTables } from './table-definitions.ts';
import { type UsageEvent, usageIntake } from './usage-event.ts';
import { UsageFiller } from './usage-filler.ts';

/** The tables of usage, filled from the log. */
export const usageTables: FactTables<UsageTables, UsageEvent> = {
  name: 'usage',
  version: 2,
  intake: usageIntake,
  records: [customer, meter],
  create: createUsageTables,
  compared: comparedUsage,
  filler: (session) => new UsageFiller(session),
};
