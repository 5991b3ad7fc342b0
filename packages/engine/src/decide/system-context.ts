import {
  type Actor,
  type Aggregate,
  type AnyAggregate,
  type Decision,
  derivedId,
  type EnvironmentId,
  type EventCatalogue,
  type EventOf,
  type Id,
  type IdPrefix,
  instantOf,
  randomId,
  type TenantId,
} from '@counterfoil/kernel';
import type { Outcome, Prepared } from '../define/context.ts';
import type { RequestContext } from '../define/request-context.ts';
import type { Position } from '../log/types.ts';
import { type RawEvent, runPrepared, type Writer } from './command.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import type { Streams } from './streams.ts';

/** The place in which the service itself acts, without a caller. */
export interface SystemScope {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  /** The correlation of the events, such as the name of the job. */
  readonly correlationId: string;
  /** The cause of the events; the correlation when absent. */
  readonly causationId?: string;
  /** The user on whose behalf the service acts; none when absent. */
  readonly actor?: Actor;
}

/** The occasion on which the service acts. The same commands on the same occasion have one effect. */
export interface Occasion {
  /** The name of the job. */
  readonly job: string;
  /** Tells its occasions apart. */
  readonly key: string;
  /** True for a job that is run until it has had an effect. */
  readonly remembersEffectsOnly?: boolean;
}

/** The ways in which the service acts by itself. */
export interface SystemOptions {
  /** Without one, every command is one of its own, and ids are random. */
  readonly occasion?: Occasion;
  /** Told the position of each write, of one that an earlier run has made too. */
  readonly onWritten?: (position: Position) => void;
  /**
   * The position up to which loaded records have everything at least, such as that of the tables from which the work came:
   * then they are read only where this process does not know them. Without it they are as the log has them now.
   */
  readonly loadsUpTo?: () => Position;
}

const nobody: Actor = { user_id: null, key_id: null };

/** Whatever the service itself may do in a place. */
export type SystemContext = Pick<RequestContext, 'execute' | 'load' | 'newId'>;

/**
 * A context that acts for the service itself. On an occasion, its commands are numbered for each
 * record, and their keys follow from the number: as long as the job gives a record the same commands
 * in the same order, repeating it changes nothing.
 */
export function systemContext(
  streams: Streams,
  scope: SystemScope,
  { occasion, onWritten, loadsUpTo }: SystemOptions = {},
): SystemContext {
  const commands = new Map<string, number>();
  let ids = 0;
  const writerOf = <State>(aggregate: unknown, id: string): Writer<State> => {
    const any = aggregate as AnyAggregate;
    const owner = any.scope === 'tenant' ? scope.tenantId : scope.environmentId;
    return streams.writer<State>(any, owner, id);
  };

  const fingerprintOf = (record: string) => {
    if (!occasion) return null;
    const number = (commands.get(record) ?? 0) + 1;
    commands.set(record, number);
    return requestFingerprint(occasion.job, `${occasion.key} ${number}`, {});
  };

  return {
    newId<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> {
      if (!occasion) return randomId(prefix, instantOf(Date.now()));
      ids += 1;
      return derivedId(prefix, [occasion.job, occasion.key, ids].join('\n'));
    },

    async execute<Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
      decision: Prepared<Decision<State, EventOf<Catalogue>>>,
    ): Promise<Outcome<State, EventOf<Catalogue>>> {
      const writer = writerOf<State>(aggregate, id);
      const { tenantId, environmentId, correlationId } = scope;
      const outcome = await runPrepared(writer, decision as Prepared<Decision<State, RawEvent>>, {
        cause: {
          tenantId,
          environmentId: aggregate.scope === 'tenant' ? null : environmentId,
          actor: scope.actor ?? nobody,
          correlationId,
          causationId: scope.causationId ?? correlationId,
        },
        fingerprint: fingerprintOf(`${aggregate.name} ${id}`),
        remembersEffectsOnly: occasion?.remembersEffectsOnly ?? false,
        expectedRevision: null,
      });
      if (outcome.refusal) throw outcome.refusal;
      if (outcome.events.length > 0) onWritten?.(outcome.position);
      return outcome as Outcome<State, EventOf<Catalogue>>;
    },

    async load<Catalogue extends EventCatalogue, State>(
      aggregate: Aggregate<string, Catalogue, State>,
      id: string,
    ): Promise<State> {
      const writer = writerOf<State>(aggregate, id);
      return (await (loadsUpTo ? writer.seen(loadsUpTo()) : writer.current())).state;
    },
  };
}
