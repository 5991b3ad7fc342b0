import type { FactPart, FactParts } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { monthNamed } from '../month.ts';
import type { UsageEvent } from '../usage-event.ts';
import { UsageFiller } from '../usage-filler.ts';
import { dropMonth } from './drop-month.ts';
import { prepareMonth, refillMonth } from './refill-month.ts';

/** No statement of a reader lasts so long. */
const graceSeconds = 60;

/** The months of the events, of all environments together. What stands in no month is not dropped. */
export const usageParts: FactParts<UsageEvent> = {
  async list({ query, schema }) {
    const { rows } = await query<Pick<FactPart, 'name' | 'isDropped' | 'isNeeded'>>(
      `select month as name, is_dropped as "isDropped",
              exists (select from ${schema}.pending_void as pending where pending.month = one.month) as "isNeeded"
         from (select month, true as is_dropped from ${schema}.dropped_month
               union all
               select replace(substr(relname, length('event_') + 1), '_', '-'), false
                 from pg_inherits join pg_class on pg_class.oid = inhrelid
                where inhparent = '${schema}.event'::regclass and relname <> 'event_other') as one
        order by month`,
    );
    return rows.map(({ name, ...part }): FactPart => {
      const { name: relation, to } = monthNamed(name);
      return { ...part, name, relation, end: `${to}T00:00:00.000Z` as Instant };
    });
  },
  drop: dropMonth,
  refiller: (session, names) => UsageFiller.ofMonths(session, names),
  prepare: prepareMonth,
  refill: (session, made, name) => refillMonth(session, made, name, graceSeconds),
};
