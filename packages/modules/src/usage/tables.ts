import type { FactTables } from '@counterfoil/engine/define';
import { customer } from '../customers/index.ts';
import { meter } from '../meters/index.ts';
import { usageAlert } from './alerts/usage-alert.ts';
import { usageBackfill } from './backfills/index.ts';
import { balanceRecords } from './balances/watched-balances.ts';
import { usageGrouping } from './groupings/usage-grouping.ts';
import { usageReservation } from './reservations/usage-reservation.ts';
import { usageParts } from './retention/parts.ts';
import { comparedUsage, createUsageTables, type UsageTables } from './table-definitions.ts';
import { type UsageEvent, usageIntake } from './usage-event.ts';
import { UsageFiller } from './usage-filler.ts';
import { usageVoid } from './voids/usage-void.ts';
import { usageWatch } from './watches/usage-watch.ts';

/** The tables of usage, filled from the log. */
export const usageTables: FactTables<UsageTables, UsageEvent> = {
  name: 'usage',
  version: 9,
  intake: usageIntake,
  records: [
    ...[customer, meter, usageVoid, usageBackfill],
    ...[usageAlert, usageReservation, usageGrouping, usageWatch],
    ...balanceRecords,
  ],
  aside: [usageAlert, usageWatch, ...balanceRecords],
  create: createUsageTables,
  compared: comparedUsage,
  parts: usageParts,
  filler: (session) => new UsageFiller(session),
};
