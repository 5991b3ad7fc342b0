import type { Properties } from '../aggregation/measure.ts';
import type { UsageEventResource } from '../schema.ts';
import type { NamedMeter } from '../trace/meters.ts';
import { lookOf } from '../trace/trace.ts';

export const rejectionReasons = ['unknown_customer', 'unknown_name', 'bad_value'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** Something that keeps an event from being counted. */
export interface Rejection {
  readonly reason: RejectionReason;
  readonly message: string;
  /** The meter that cannot count it. */
  readonly meter_id?: string;
}

/**
 * Everything that keeps an event from being counted (D55): nobody has its external id, no meter counts its name, or a
 * meter that its filters let in finds no value. A meter that counts others only has nothing against it.
 */
export function rejectionsOf(
  event: Pick<
    UsageEventResource,
    'customer_id' | 'external_customer_id' | 'event_name' | 'properties'
  >,
  meters: readonly NamedMeter[],
): Rejection[] {
  const { customer_id, external_customer_id, event_name, properties } = event;
  const own = meters.filter((meter) => meter.event_name === event_name);
  const bad = own.flatMap((meter): Rejection[] => {
    const look = lookOf(meter, properties as Properties);
    if (look.counted || look.fault !== 'bad_value') return [];
    const message = `The meter ${meter.name} cannot count it: ${look.reason}.`;
    return [{ reason: 'bad_value', message, meter_id: meter.id }];
  });
  return [
    ...(customer_id === null
      ? [rejection('unknown_customer', `No customer has the external id ${external_customer_id}.`)]
      : []),
    ...(own.length === 0
      ? [rejection('unknown_name', `No meter counts events of the name ${event_name}.`)]
      : []),
    ...bad,
  ];
}

const rejection = (reason: RejectionReason, message: string): Rejection => ({ reason, message });
