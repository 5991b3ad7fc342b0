import type { PublicMessage } from '@counterfoil/engine';
import { wantsType } from '@counterfoil/modules';

/** An endpoint as far as it matters for who gets what. */
export interface Target {
  readonly id: string;
  readonly environmentId: string;
  /** Place in the log of its creation: it gets what comes after. */
  readonly createdPosition: bigint;
  readonly enabled: boolean;
  readonly eventTypes: readonly string[] | null;
  readonly isOrdered: boolean;
  /** Null: without limit. */
  readonly guardSeconds: number | null;
}

/** A message that an endpoint is to have. */
export interface Wanted {
  readonly message: PublicMessage;
  readonly target: Target;
}

/** One row to be. */
export interface PlannedDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly environmentId: string;
  readonly resourceId: string;
  readonly state: 'pending' | 'waiting' | 'skipped';
  readonly guardSeconds: number | null;
  /** Seconds until it may be sent whatever becomes of the earlier ones; null: not before them. */
  readonly dueInSeconds: number | null;
}

/** The deliveries of one endpoint about one resource, which follow each other. */
export interface Lane {
  readonly endpointId: string;
  readonly resourceId: string;
}

/** A lane in which something has not been finished. */
export interface OpenLane extends Lane {
  /** Whether a delivery waits in it already. */
  readonly hasWaiting: boolean;
}

const isFor = (message: PublicMessage, target: Target): boolean =>
  message.environmentId === target.environmentId &&
  message.position > target.createdPosition &&
  wantsType(target.eventTypes, message.type);

/** Which endpoint is to have which message, in the order of the messages. Pure. */
export const wantedBy = (
  messages: readonly PublicMessage[],
  targets: readonly Target[],
): readonly Wanted[] =>
  messages.flatMap((message) =>
    targets.filter((target) => isFor(message, target)).map((target) => ({ message, target })),
  );

const laneKey = ({ endpointId, resourceId }: Lane): string => `${endpointId}\n${resourceId}`;

const laneOf = ({ message, target }: Wanted): Lane => ({
  endpointId: target.id,
  resourceId: message.resourceId,
});

const needsLane = ({ target }: Wanted): boolean => target.enabled && target.isOrdered;

/** The lanes that a plan has to know about, each once. Pure. */
export function lanesOf(wanted: readonly Wanted[]): readonly Lane[] {
  const lanes = wanted.filter(needsLane).map(laneOf);
  return [...new Map(lanes.map((lane) => [laneKey(lane), lane])).values()];
}

/**
 * The deliveries of a batch. In a lane that is open, a delivery waits; the first that waits may
 * overtake when its guard has passed, those behind it wait for it in turn. Pure.
 */
export function planDeliveries(
  wanted: readonly Wanted[],
  open: readonly OpenLane[],
): readonly PlannedDelivery[] {
  const lanes = new Map(open.map((lane) => [laneKey(lane), lane.hasWaiting]));
  return wanted.map((one): PlannedDelivery => {
    const { message, target } = one;
    const delivery = {
      eventId: message.id,
      endpointId: target.id,
      environmentId: target.environmentId,
      resourceId: message.resourceId,
      guardSeconds: target.guardSeconds,
    };
    if (!target.enabled) return { ...delivery, state: 'skipped', dueInSeconds: 0 };
    if (!target.isOrdered) return { ...delivery, state: 'pending', dueInSeconds: 0 };
    const key = laneKey(laneOf(one));
    const hasWaiting = lanes.get(key);
    lanes.set(key, hasWaiting !== undefined);
    if (hasWaiting === undefined) return { ...delivery, state: 'pending', dueInSeconds: 0 };
    const dueInSeconds = hasWaiting ? null : target.guardSeconds;
    return { ...delivery, state: 'waiting', dueInSeconds };
  });
}
