import { type AnyAggregate, invariant, type Stamped } from '@counterfoil/kernel';
import type { AskingContext, RecalledRecords } from './asking-context.ts';
import type { HistoryEvent, Reader } from './context.ts';
import type { AnyProjectedEvent, AnyProjection } from './projection.ts';

type AnyEvent = HistoryEvent<{ readonly type: string; readonly data: unknown }>;

/** Streams with at most so many events are kept, and so many of them. */
const keptEvents = 200;
const keptStreams = 2_000;

/**
 * Events of streams that were read, for several questions one after the other. It knows nothing of what is written after it has read: it
 * serves questions about positions before that alone.
 */
export class ReadStreams {
  readonly #kept = new Map<string, readonly AnyEvent[]>();

  get(name: string): readonly AnyEvent[] | undefined {
    return this.#kept.get(name);
  }

  keep(name: string, events: readonly AnyEvent[]): void {
    if (events.length > keptEvents) return;
    if (this.#kept.size >= keptStreams) this.#kept.clear();
    this.#kept.set(name, events);
  }
}

/**
 * Questions as they would have been answered at a position of the log: every record is folded up to there (ADR 49). Of tables only
 * records by their id are told, from the same streams; facts are none of this, they are as `context` reads them.
 *
 * @param read what was read of streams before, and is now
 */
export function asOf(
  context: AskingContext,
  position: string,
  read = new ReadStreams(),
): AskingContext {
  const end = BigInt(position);
  const historyOf = async function* (
    aggregate: AnyAggregate,
    id: string,
  ): AsyncGenerator<AnyEvent> {
    const name = `${aggregate.name}\n${context.principal.environmentId}\n${id}`;
    const known = read.get(name);
    if (known) {
      for (const event of known) if (BigInt(event.position) <= end) yield event;
      return;
    }
    const events: AnyEvent[] = [];
    // Nobody may have read all of it: what is kept is complete.
    let isComplete = true;
    for await (const event of context.history(aggregate, id) as AsyncIterable<AnyEvent>) {
      if (events.length <= keptEvents) events.push(event);
      else isComplete = false;
      if (BigInt(event.position) <= end) yield event;
      else if (!isComplete) return;
    }
    if (isComplete) read.keep(name, events);
  };
  const folded = async (aggregate: AnyAggregate, id: string): Promise<unknown> => {
    let state: unknown = aggregate.initial;
    for await (const event of historyOf(aggregate, id)) {
      state = aggregate.evolve(state as never, event as Stamped<never>);
    }
    return state;
  };
  const load: RecalledRecords['load'] = (aggregate, id) =>
    folded(aggregate as AnyAggregate, id) as never;
  const records: RecalledRecords = {
    load,
    known: load,
    holderOf: notAsked,
    async *history(aggregate, id, { from = 0, maximum = Number.MAX_SAFE_INTEGER } = {}) {
      for await (const event of historyOf(aggregate as AnyAggregate, id)) {
        if (event.revision < from) continue;
        if (event.revision >= from + maximum) return;
        yield event as never;
      }
    },
  };
  return {
    ...records,
    now: context.now,
    principal: context.principal,
    recalled: records,
    read: recordsByFold(historyOf),
    get facts() {
      return context.facts;
    },
    factsByNow: () => context.factsByNow(),
    beside: notAsked,
    part: (wanted) => context.part(wanted),
  };
}

function notAsked(): never {
  invariant(false, 'of an earlier position this is not known');
}

/** The rows of a table of records by their id, each folded from its own stream. */
function recordsByFold(
  historyOf: (aggregate: AnyAggregate, id: string) => AsyncIterable<AnyEvent>,
): Reader {
  const rowOf = async (table: AnyProjection, id: string): Promise<unknown> => {
    const aggregate = table.recordsOf;
    invariant(aggregate, `${table.name} is no table of records`);
    let row: unknown = null;
    for await (const event of historyOf(aggregate, id)) {
      const projected = { ...event, aggregate: aggregate.name } as unknown as AnyProjectedEvent;
      if (table.keys(projected).includes(id)) row = table.fold(row, projected, id);
    }
    return row;
  };
  return {
    find: notAsked,
    findMany: async (table: AnyProjection, ids: readonly string[]) => {
      const found = new Map<string, never>();
      for (const id of ids) {
        const row = await rowOf(table, id);
        if (row !== null) found.set(id, table.view(row) as never);
      }
      return found;
    },
    ids: notAsked,
    first: notAsked,
    list: notAsked,
    query: notAsked,
  };
}
