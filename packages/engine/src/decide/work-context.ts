import { invariant } from '@counterfoil/kernel';
import type { FactReads } from '../define/intake.ts';
import type { WorkContext } from '../define/work-context.ts';
import type { FactsOf } from '../intake/fact-reads.ts';
import type { Position } from '../log/types.ts';
import type { Streams } from './streams.ts';
import { type SystemOptions, type SystemScope, systemContext } from './system-context.ts';

interface WorkOptions extends SystemOptions {
  /** Left out where no work reads facts. */
  readonly factsOf?: FactsOf | undefined;
}

/** A context of work that the service does by itself; see `systemContext`. */
export function workContext(
  streams: Streams,
  scope: SystemScope,
  { factsOf, ...options }: WorkOptions = {},
): WorkContext {
  const { tenantId, environmentId } = scope;
  const place = { tenantId, environmentId };
  const factsUpTo = (position: Position | null): FactReads => {
    invariant(factsOf, 'no facts are read here');
    return factsOf(place, position);
  };
  return {
    ...systemContext(streams, scope, options),
    place,
    now: streams.clock.now(environmentId),
    get facts() {
      return factsUpTo(null);
    },
    factsByNow: async () => factsUpTo(await streams.store.head()),
  };
}
