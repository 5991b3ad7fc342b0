import {
  type AnyProjection,
  type EventGateway,
  type GatewayAccess,
  type Reaction,
  type ReactionContext,
  reaction,
} from '@counterfoil/engine/define';
import type { Aggregate, EventCatalogue } from '@counterfoil/kernel';

/** An account that somebody removed by hand, or that a lost server took along, is back after this. */
const lookMilliseconds = 10_000;

/** The number of comparisons of what was told with the log, before the rest is left to the next event. */
const comparisonsMaximum = 5;

/** The access that a record stands for. */
interface StandingAccess {
  readonly access: GatewayAccess;
  /** False when the record is gone, and its place at the gateway with it. */
  readonly isKept: boolean;
}

interface AccessOptions<Catalogue extends EventCatalogue, State> {
  readonly name: string;
  /** The types of events that change the access. */
  readonly on: readonly (keyof Catalogue & string)[];
  readonly table: AnyProjection;
  /** Null for a record that never had credentials. */
  readonly accessOf: (state: State) => StandingAccess | null;
}

type Handlers<Catalogue extends EventCatalogue, State> = Parameters<
  typeof reaction<Catalogue, State>
>[1]['on'];

/** The gateway admits those systems that have credentials in force by the records of an aggregate, and nobody else. */
export function accessReaction<Catalogue extends EventCatalogue, State>(
  gateway: EventGateway,
  source: Aggregate<string, Catalogue, State>,
  { name, on, table, accessOf }: AccessOptions<Catalogue, State>,
): Reaction {
  /** Tells what the log says. What changes there meanwhile is told after it, so that nothing older stays. */
  const tell = async (
    { aggregate_id: id }: { readonly aggregate_id: string },
    { load }: ReactionContext,
  ): Promise<void> => {
    let told = '';
    for (let comparison = 0; comparison < comparisonsMaximum; comparison += 1) {
      const current = accessOf(await load(source, id));
      const latest = JSON.stringify(current);
      if (!current || latest === told) return;
      if (current.isKept) await gateway.keepAccess(current.access);
      else await gateway.removeAccess(current.access);
      told = latest;
    }
  };
  return reaction(source, {
    name,
    on: Object.fromEntries(on.map((type) => [type, tell])) as unknown as Handlers<Catalogue, State>,
    reconciliation: {
      table,
      everyMilliseconds: lookMilliseconds,
      run: (states) => {
        const standing = states.flatMap((state) => accessOf(state) ?? []);
        const accesses = (wanted: boolean) =>
          standing.filter(({ isKept }) => isKept === wanted).map(({ access }) => access);
        return gateway.reconcile({ kept: accesses(true), removed: accesses(false) });
      },
    },
  });
}
