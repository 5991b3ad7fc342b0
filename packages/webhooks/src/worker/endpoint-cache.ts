import { type Connection, statementsOn } from '@counterfoil/engine';
import { fromJson, type JsonText } from '@counterfoil/engine/define';
import { sql } from 'kysely';
import type { Sealer } from '../endpoint/sealing.ts';
import type { EndpointRow } from '../projection.ts';
import type { EndpointVersion } from '../queue/claim.ts';
import type { Target } from '../queue/fan-out-plan.ts';
import { queue, servingEndpoints } from '../queue/schema.ts';
import { type Destination, destinationOf } from '../sending/request.ts';

/** The endpoints of the read model, kept in memory by revision. */
export interface EndpointCache {
  /** The endpoints of some environments that are not deleted, as the database shows them now. */
  targets(connection: Connection, environmentIds: readonly string[]): Promise<readonly Target[]>;
  /**
   * Returns the destinations of deliveries to these versions, or to later ones, by the endpoint's
   * id. A destination throws `SealBroken` for an endpoint that was sealed under another key.
   */
  destinations(
    connection: Connection,
    versions: readonly EndpointVersion[],
  ): Promise<(id: string) => Destination>;
}

const cachedMaximum = 20_000;

interface Known {
  readonly revision: string;
  readonly row: EndpointRow;
  destination: Destination | null;
}

/** The endpoints, of which at least `maximum` are kept in memory once they have been read. */
export function createEndpointCache(sealer: Sealer, maximum = cachedMaximum): EndpointCache {
  const kept = new Map<string, Known>();

  /**
   * All of these versions by id: several parts of the worker read at the same time, and an endpoint
   * that one of them forgets must not be missing for another. An endpoint that is not found is an
   * error, because going on without it would lose its deliveries.
   */
  const read = async (
    connection: Connection,
    versions: readonly EndpointVersion[],
  ): Promise<ReadonlyMap<string, Known>> => {
    const found = new Map<string, Known>();
    for (const { id, revision } of versions) {
      const known = kept.get(id);
      if (known?.revision === revision) found.set(id, known);
    }
    const missing = versions.filter(({ id }) => !found.has(id));
    for (const [id, known] of await readRows(connection, missing)) found.set(id, known);
    if (kept.size > maximum) kept.clear();
    for (const [id, known] of found) kept.set(id, known);
    return found;
  };

  return {
    targets: async (connection, environmentIds) => {
      const { rows } = await connection.run(
        queue
          .selectFrom('webhook_endpoints')
          .select(['id', 'environment_id as environmentId', 'revision'])
          .where(sql<boolean>`environment_id = any(${environmentIds})`)
          .where('status', '<>', 'deleted')
          .orderBy('id'),
      );
      const found = await read(connection, rows);
      return rows.map(({ id }) => targetOf(knownOf(found, id).row));
    },
    destinations: async (connection, versions) => {
      const found = await read(connection, versions);
      return (id) => {
        const known = knownOf(found, id);
        known.destination ??= destinationOf(known.row.endpoint, sealer);
        return known.destination;
      };
    },
  };
}

function knownOf(found: ReadonlyMap<string, Known>, id: string): Known {
  const known = found.get(id);
  if (!known) throw new RangeError(`The endpoint ${id} was not asked for.`);
  return known;
}

/**
 * The tables behind the view. Their column `state`, with the sealed secrets, is not in the view, so
 * that a reader of the view does not read them as well.
 */
const fillings =
  statementsOn<Record<string, { id: string; revision: string; state: JsonText<EndpointRow> }>>();

/** Reads endpoints as they are now. Throws when one of them is not to be found. */
async function readRows(
  connection: Connection,
  versions: readonly EndpointVersion[],
): Promise<ReadonlyMap<string, Known>> {
  if (versions.length === 0) return new Map();
  const [serving] = (await connection.run(servingEndpoints)).rows;
  if (!serving) throw new Error('The read model has no table of webhook endpoints.');
  const environmentIds = [...new Set(versions.map(({ environmentId }) => environmentId))];
  const ids = versions.map(({ id }) => id);
  const { rows } = await connection.run(
    fillings
      .selectFrom(serving.relation)
      .select(['id', 'revision', 'state'])
      .where(sql<boolean>`environment_id = any(${environmentIds}) and id = any(${ids})`),
  );
  const read = new Map(
    rows.map(({ id, revision, state }): [string, Known] => [
      id,
      { revision, row: fromJson(state), destination: null },
    ]),
  );
  const lost = versions.find(({ id }) => !read.has(id));
  if (lost) throw new Error(`The read model has no endpoint ${lost.id} any more.`);
  return read;
}

const targetOf = ({ endpoint, created_position }: EndpointRow): Target => ({
  id: endpoint.id,
  environmentId: endpoint.environment_id,
  createdPosition: BigInt(created_position),
  enabled: endpoint.enabled,
  eventTypes: endpoint.event_types,
  orderMode: endpoint.order_mode,
  headOfLineSeconds: endpoint.order_guard_seconds,
});
