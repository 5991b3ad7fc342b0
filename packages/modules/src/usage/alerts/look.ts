import type { DueWork, FactWork, WorkContext } from '@counterfoil/engine/define';
import { dueWork } from '@counterfoil/engine/define';
import { customer } from '../../customers/index.ts';
import { meter } from '../../meters/index.ts';
import { countingOf, usedIn } from '../current/current-usage.ts';
import { runningPeriod } from '../current/running-period.ts';
import { usageTables } from '../tables.ts';
import { noteUsage } from './commands.ts';
import { usageAlertTable } from './records.ts';
import { usageAlert } from './usage-alert.ts';
import { watched } from './watched.ts';

/**
 * Looks at the usage of an alert's period and notes what was crossed. Once the period is over, everything in the log by
 * then is counted, so that nothing that was recorded in time is passed over, and the next period begins.
 */
async function look(context: WorkContext, id: string): Promise<void> {
  const alert = await context.load(usageAlert, id);
  if (alert?.status !== 'published') return;
  const { period, reset_period } = alert;
  const whose = await context.load(customer, alert.customer_id);
  const counted = await context.load(meter, alert.meter_id);
  if (!whose || !counted) return;
  const isOver = period !== null && period.end <= context.now;
  const facts = isOver ? await context.factsByNow() : context.facts;
  const position = await facts.shown(usageTables);
  const now = isOver ? period.end : context.now;
  const use = { customer: whose, counting: countingOf(counted), period, now };
  const usage = await usedIn({ facts, principal: context.principal }, use);
  const next = isOver ? runningPeriod(reset_period, period.end, whose.timezone) : null;
  await context.execute(usageAlert, id, noteUsage({ period, usage, position, next }));
}

/** A look when usage has come. */
export const lookAtNewUsage: FactWork = {
  name: 'usage alert',
  tables: usageTables,
  marks: watched,
  run: look,
};

/** A look when the period is over. */
export const lookAtPeriodEnd: DueWork = dueWork({
  name: 'usage alert period',
  table: usageAlertTable,
  column: 'due_at',
  run: look,
});
