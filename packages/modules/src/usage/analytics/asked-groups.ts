import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant, WindowSize } from '@counterfoil/kernel';
import type { Meter } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';
import { type AskedCustomer, askedCustomer } from '../asked-customer.ts';
import { type AskedSpan, askedSpan } from '../asked-span.ts';
import { wholeAggregation } from '../whole-aggregation.ts';
import { type Grouping, groupingsOf } from './breakdown.ts';
import type { GroupQuestion } from './usage-in-groups.ts';

/** A request about usage in groups, whatever it is about. */
export interface AskedGroups extends AskedCustomer, AskedSpan {
  readonly group_by?: readonly string[] | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly property_filters?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly window_size?: WindowSize | undefined;
  readonly timezone?: string | undefined;
  readonly billing_anchor?: Instant | undefined;
}

/** The properties by which a request chooses events, as filters beside those of a meter. */
export const askedFilters = ({
  property_filters = {},
}: Pick<AskedGroups, 'property_filters'>): PropertyFilters =>
  Object.entries(property_filters).map(([key, values]) => ({ key, values }));

/** The groups that a request asks for, and its question about the usage that a meter counts. */
export async function askedGroups(context: AskingContext, body: AskedGroups) {
  const { customer, zone: ownZone } = await askedCustomer(context, body);
  const { window_size: size, billing_anchor: anchor, sources = [] } = body;
  const span = askedSpan(context.now, body);
  const zone = body.timezone ?? ownZone;
  const groupings = groupingsOf(body.group_by ?? []);
  const asked = askedFilters(body);
  const questionOf = (meter: Meter): GroupQuestion => ({
    of: { eventName: meter.event_name, customer },
    aggregation: wholeAggregation(meter),
    filters: [...meter.filters, ...asked],
    sources,
    groupings,
    span,
    zone,
    windows: size === undefined ? null : { size, zone, anchor },
  });
  return { groupings, questionOf, customer, span };
}

/** The members of an item that say which group it is. */
export function groupView(groupings: readonly Grouping[], group: readonly string[]) {
  const shown = groupings.map((grouping, index) => ({ grouping, text: group[index] ?? '' }));
  const source = shown.find(({ grouping }) => grouping.kind === 'source')?.text;
  const properties = shown.flatMap(({ grouping, text }) =>
    grouping.kind === 'property' ? [[grouping.name, text] as const] : [],
  );
  return {
    ...(source === undefined ? {} : { source }),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
  };
}
