import type { PublicMessage } from '@counterfoil/engine';
import type { OrderMode } from '../endpoint/endpoint.ts';
import { wantsType } from '../endpoint/event-types.ts';

/** An endpoint as far as it matters for who gets what. */
export interface Target {
  readonly id: string;
  readonly environmentId: string;
  /** Place in the log of its creation: it gets what comes after. */
  readonly createdPosition: bigint;
  readonly enabled: boolean;
  readonly eventTypes: readonly string[] | null;
  readonly orderMode: OrderMode;
  /** Null: without limit. */
  readonly guardSeconds: number | null;
}

/** A message that an endpoint is to have. */
export interface Wanted<Message extends Routed = Routed> {
  readonly message: Message;
  readonly target: Target;
}

/** One row to be. */
export interface PlannedDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly environmentId: string;
  readonly resourceId: string;
  /** The lane in which it follows others; null when it follows none. */
  readonly lane: string | null;
  readonly state: 'pending' | 'waiting' | 'skipped';
  readonly guardSeconds: number | null;
  /** Seconds until it may be sent whatever becomes of the earlier ones; null: not before them. */
  readonly dueInSeconds: number | null;
}

/** Deliveries of one endpoint that follow each other. */
export interface Lane {
  readonly endpointId: string;
  /** The resource that they are about; empty where all deliveries of the endpoint are one lane. */
  readonly lane: string;
}

/** A lane in which something has not been finished. */
export interface OpenLane extends Lane {
  /** True when a delivery waits in it already. */
  readonly hasWaiting: boolean;
}

const isFor = (message: Routed, target: Target): boolean =>
  message.environmentId === target.environmentId &&
  message.position > target.createdPosition &&
  wantsType(target.eventTypes, message.type);

/** The fields of a message that decide who gets it and after what. */
export type Routed = Pick<
  PublicMessage,
  'id' | 'type' | 'position' | 'environmentId' | 'resourceId'
>;

/** Returns which endpoint is to have which message, in the order of the messages. Pure. */
export const wantedBy = <Message extends Routed>(
  messages: readonly Message[],
  targets: readonly Target[],
): readonly Wanted<Message>[] =>
  messages.flatMap((message) =>
    targets.filter((target) => isFor(message, target)).map((target) => ({ message, target })),
  );

const laneKey = ({ endpointId, lane }: Lane): string => `${endpointId}\n${lane}`;

function laneOf({ message, target }: Wanted): Lane | null {
  switch (target.orderMode) {
    case 'resource_fifo':
      return { endpointId: target.id, lane: message.resourceId };
    case 'strict_fifo':
      return { endpointId: target.id, lane: '' };
    case 'unordered':
      return null;
    default:
      return target.orderMode satisfies never;
  }
}

/** The lanes that a plan has to know about, each once. Pure. */
export function lanesOf(wanted: readonly Wanted[]): readonly Lane[] {
  const lanes = wanted
    .filter(({ target }) => target.enabled)
    .map(laneOf)
    .filter((lane) => lane !== null);
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
    const lane = laneOf(one);
    // In strict order nothing overtakes, however long it takes.
    const guardSeconds = target.orderMode === 'strict_fifo' ? null : target.guardSeconds;
    const delivery = {
      eventId: message.id,
      endpointId: target.id,
      environmentId: target.environmentId,
      resourceId: message.resourceId,
      lane: lane?.lane ?? null,
      guardSeconds,
    };
    if (!target.enabled) return { ...delivery, state: 'skipped', dueInSeconds: 0 };
    if (lane === null) return { ...delivery, state: 'pending', dueInSeconds: 0 };
    const key = laneKey(lane);
    const hasWaiting = lanes.get(key);
    lanes.set(key, hasWaiting !== undefined);
    if (hasWaiting === undefined) return { ...delivery, state: 'pending', dueInSeconds: 0 };
    return { ...delivery, state: 'waiting', dueInSeconds: hasWaiting ? null : guardSeconds };
  });
}
