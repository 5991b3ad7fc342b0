import type { AnyAggregate } from '@counterfoil/kernel';
import { inParallel, messageOf } from '../consume/run-forever.ts';
import { type Embeddable, type PublicEvents, publicationsOf } from '../define/public-event.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import { type StoredEvent, StoreUnavailable } from '../log/types.ts';
import type { StreamCache } from '../stream-cache/stream-cache.ts';
import { placeOf } from '../stream-cache/stream-state.ts';
import { type OutgoingMessage, publicMessages } from './message.ts';
import { type Batch, loadsAtOnce, RelayedStreams, type Step } from './relayed-streams.ts';

/** An event cannot be turned into public messages; the relay stops before it. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent';
  constructor(event: StoredEvent, cause: unknown) {
    const place = `${event.type} at ${event.stream}@${event.revision}`;
    super(`${place} cannot be published: ${messageOf(cause)}`, { cause });
  }
}

export interface Rendered {
  /** The messages about the events, in order. */
  readonly messages: readonly OutgoingMessage[];
  /** The event that could not be rendered, with those after it; null when all could be. */
  readonly poison: PoisonEvent | null;
}

/** Turns events of the log into public messages. */
export interface Renderer {
  /** Prefixes of the streams whose events may lead to messages. */
  readonly prefixes: readonly string[];
  /**
   * The messages about the next events of the log. Rejects when the store cannot be read; a defect in
   * the way of one event is `poison` instead. Either is the renderer's end.
   */
  render(events: readonly StoredEvent[]): Promise<Rendered>;
}

/**
 * Makes the renderer of one way along the log, which takes every event with one of its prefixes. A
 * message shows records as they were at its event: folded from the log, never taken from a read model,
 * those of other streams included. Messages follow from the log and the definitions of public events
 * alone, so that a relay which starts over produces the same messages in the same order.
 */
export function createRenderer(
  cache: StreamCache,
  publicEvents: readonly PublicEvents[],
): Renderer {
  const sources = Map.groupBy(publicEvents, ({ aggregate }) => aggregate.name);
  const aggregates = new Map(aggregatesOf(publicEvents).map((each) => [each.name, each]));
  const streams = new RelayedStreams(cache, aggregates.values());
  return {
    prefixes: [...aggregates.keys()].map(categoryPrefix),
    render: async (events) => {
      const batch = await streams.take(events);
      const rendered: (readonly OutgoingMessage[] | PoisonEvent)[] = [];
      await inParallel([...batch.steps().entries()], loadsAtOnce, async ([index, step]) => {
        try {
          if ('defect' in step) throw step.defect;
          rendered[index] = await renderStep(step, batch, sources.get(step.aggregate.name) ?? []);
        } catch (error) {
          if (error instanceof StoreUnavailable) throw error;
          rendered[index] = new PoisonEvent(step.event, error);
        }
      });
      return untilPoison(rendered);
    },
  };
}

/** The aggregates whose records messages are about or show inside. */
function aggregatesOf(publicEvents: readonly PublicEvents[]): readonly AnyAggregate[] {
  const inside = ({ aggregate, embeds = {} }: Pick<Embeddable, 'aggregate' | 'embeds'>) => [
    aggregate,
    ...Object.values(embeds).flatMap(({ record }): AnyAggregate[] => inside(record)),
  ];
  return publicEvents.flatMap(inside);
}

async function renderStep(
  { event, aggregate, before, after }: Step,
  batch: Batch,
  publicEvents: readonly PublicEvents[],
): Promise<readonly OutgoingMessage[]> {
  if (!belongsTo(aggregate, event)) return [];
  const change = {
    event: stampedEvent(aggregate, event),
    before: before.state,
    after: after.state,
  };
  const { tenant_id, environment_id } = event.metadata;
  const stateAt = async (of: AnyAggregate, id: string): Promise<unknown> => {
    const scope = of.scope === 'tenant' ? tenant_id : environment_id;
    if (scope === null) return null;
    const { recordRevision, state } = await batch.at(placeOf(of, scope, id), event.position);
    return recordRevision < 0 ? null : state;
  };
  const publications = await Promise.all(
    publicEvents.map((each) => publicationsOf(each, change, stateAt)),
  );
  return publicMessages(event, publications.flat());
}

function untilPoison(rendered: readonly (readonly OutgoingMessage[] | PoisonEvent)[]): Rendered {
  const end = rendered.findIndex((each) => each instanceof PoisonEvent);
  const messages = rendered.slice(0, end < 0 ? undefined : end).flat() as OutgoingMessage[];
  return { messages, poison: (rendered[end] as PoisonEvent | undefined) ?? null };
}
