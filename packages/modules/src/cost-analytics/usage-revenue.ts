import type { RequestContext } from '@counterfoil/engine/define';
import { type Currency, decimal, invalidField, type Span, textOf, zero } from '@counterfoil/kernel';
import type { InvoiceLine } from '../invoices/index.ts';
import { type MeterRecord, meter } from '../meters/index.ts';
import { once } from '../offers/index.ts';
import { billedStretches, type Subscription } from '../subscriptions/index.ts';
import { countingOf, type PropertyFilters, partOfCharge, weighedUsage } from '../usage/index.ts';
import type { UsageMoment } from './costs.ts';
import type { PartOfLine } from './revenue.ts';

/** Parts of subscriptions' time whose usage is weighed for one answer: each reads it twice. */
const weighedMaximum = 400;

/** Usage that is billed together: by a subscription, of a meter, in a time. */
interface Billed {
  readonly by: Subscription;
  readonly meter_id: string;
  readonly span: Span;
}

/**
 * The part of lines of usage that falls to what filters choose, by the rule of `POST /events/analytics`: to the usage of the time of the line as it is
 * counted by now, so that all parts add up to what was billed. Nothing else belongs to an event. Throws 400 where too much has to be weighed.
 */
export function partOfUsage(
  context: RequestContext,
  filters: PropertyFilters,
  moment: UsageMoment,
): PartOfLine {
  const meterOf = once((id) => context.load(meter, id));
  const weighed = new Map<string, ReturnType<typeof weighedUsage>>();
  const weigh = (billed: Billed, counted: MeterRecord): ReturnType<typeof weighedUsage> => {
    const name = `${billed.by.id} ${counted.id} ${billed.span.start} ${billed.span.end}`;
    const known = weighed.get(name);
    if (known) return known;
    if (weighed.size === weighedMaximum) throw tooMuch();
    const all = questionOf(billed, counted);
    const own = { ...all, filters: [...all.filters, ...filters] };
    const found = weighedUsage(context, moment.usageIn, own, all);
    weighed.set(name, found);
    return found;
  };
  return async (line, { amount, currency, subscription }) => {
    const billed = billedBy(line, subscription);
    const counted = billed && (await meterOf(billed.meter_id));
    if (!counted) return null;
    const weights = await weigh(billed, counted);
    const part = decimal(partOfCharge(weights, textOf(amount), currency as Currency));
    return part.eq(zero) ? null : part;
  };
}

const ofEvents: readonly InvoiceLine['kind'][] = ['usage', 'overage', 'late_usage'];

function billedBy(line: InvoiceLine, by: Subscription | null): Billed | null {
  const { kind, meter_id, period_start: start, period_end: end } = line;
  if (by === null || meter_id === null || start === null || end === null) return null;
  return ofEvents.includes(kind) && start < end ? { by, meter_id, span: { start, end } } : null;
}

const questionOf = ({ by, span }: Billed, counted: MeterRecord) => ({
  eventName: counted.event_name,
  stretches: billedStretches(by, span),
  aggregation: countingOf(counted).aggregation,
  filters: counted.filters,
  sources: [],
  groupings: [],
  span,
  zone: by.timezone,
  windows: null,
});

const tooMuch = () =>
  invalidField(
    '/property_filters',
    `needs the usage of more than ${weighedMaximum} periods of lines: ask for a shorter span, or fewer customers or features`,
  );
