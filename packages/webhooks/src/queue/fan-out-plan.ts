import type { PublicMessage } from '@counterfoil/engine';
import type { OrderMode } from '../endpoint/endpoint.ts';
import { wantsType } from '../endpoint/event-types.ts';

/** The fields of an endpoint that decide which messages it gets. */
export interface Target {
  readonly id: string;
  readonly environmentId: string;
  /** Place in the log of its creation: it gets the events after it. */
  readonly createdPosition: bigint;
  readonly enabled: boolean;
  readonly eventTypes: readonly string[] | null;
  readonly orderMode: OrderMode;
  /** Null: without limit. */
  readonly headOfLineSeconds: number | null;
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
  /** The key in whose order it goes; null when it follows no other delivery. */
  readonly orderingKey: string | null;
  readonly state: 'pending' | 'waiting' | 'skipped';
  readonly headOfLineSeconds: number | null;
  /** Seconds until it may be sent whatever becomes of the earlier ones; null: not before them. */
  readonly dueInSeconds: number | null;
}

/** The deliveries of one endpoint that follow each other, because they have the same ordering key. */
export interface OrderedGroup {
  readonly endpointId: string;
  /** The resource that they are about; empty where all deliveries of the endpoint are one group. */
  readonly orderingKey: string;
}

/** An ordered group with deliveries that have not ended. */
export interface OpenGroup extends OrderedGroup {
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

/** A text that tells ordered groups apart. */
export const groupId = ({ endpointId, orderingKey }: OrderedGroup): string =>
  `${endpointId}\n${orderingKey}`;

function groupOf({ message, target }: Wanted): OrderedGroup | null {
  switch (target.orderMode) {
    case 'resource_fifo':
      return { endpointId: target.id, orderingKey: message.resourceId };
    case 'strict_fifo':
      return { endpointId: target.id, orderingKey: '' };
    case 'unordered':
      return null;
    default:
      return target.orderMode satisfies never;
  }
}

/** The ordered groups that a plan has to know about, each once. Pure. */
export function groupsOf(wanted: readonly Wanted[]): readonly OrderedGroup[] {
  const groups = wanted.flatMap((one) => (one.target.enabled ? (groupOf(one) ?? []) : []));
  return [...new Map(groups.map((group) => [groupId(group), group])).values()];
}

/**
 * The deliveries of a batch. In an open group a delivery waits; the first that waits may overtake
 * after its head-of-line time-out, those behind it wait for it in turn. Pure.
 */
export function planDeliveries(
  wanted: readonly Wanted[],
  open: readonly OpenGroup[],
): readonly PlannedDelivery[] {
  const groups = new Map(open.map((group) => [groupId(group), group.hasWaiting]));
  return wanted.map((one): PlannedDelivery => {
    const { message, target } = one;
    const group = groupOf(one);
    // In strict order nothing overtakes, however long it takes.
    const headOfLineSeconds = target.orderMode === 'strict_fifo' ? null : target.headOfLineSeconds;
    const delivery = {
      eventId: message.id,
      endpointId: target.id,
      environmentId: target.environmentId,
      resourceId: message.resourceId,
      orderingKey: group?.orderingKey ?? null,
      headOfLineSeconds,
    };
    if (!target.enabled) return { ...delivery, state: 'skipped', dueInSeconds: 0 };
    if (group === null) return { ...delivery, state: 'pending', dueInSeconds: 0 };
    const key = groupId(group);
    const hasWaiting = groups.get(key);
    groups.set(key, hasWaiting !== undefined);
    if (hasWaiting === undefined) return { ...delivery, state: 'pending', dueInSeconds: 0 };
    return { ...delivery, state: 'waiting', dueInSeconds: hasWaiting ? null : headOfLineSeconds };
  });
}
