import type { Connection } from '@counterfoil/engine';
import type { Sealer } from '../endpoint/sealing.ts';
import type { EndpointRow } from '../projection.ts';
import type { EndpointVersion } from '../queue/claim.ts';
import type { Target } from '../queue/fan-out-plan.ts';
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

/**
 * The table behind the view. Its column `state`, with the sealed secrets, is not in the view, so
 * that whoever may read what is shown does not read them as well.
 */
async function servingTable(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ relation: string }>(
    `select relation from counterfoil.projection where name = 'webhook_endpoints' and serving`,
  );
  const relation = rows[0]?.relation ?? '';
  if (!/^[a-z][a-z0-9_]*$/.test(relation)) {
    throw new Error('The read model has no table of webhook endpoints.');
  }
  return `counterfoil."${relation}"`;
}

interface Known {
  readonly revision: string;
  readonly row: EndpointRow;
  destination: Destination | null;
}

/** The endpoints, of which at least `maximum` are kept in memory once they have been read. */
export function createEndpointCache(sealer: Sealer, maximum = cachedMaximum): EndpointCache {
  const kept = new Map<string, Known>();

  /**
   * All of these versions by id: several parts of the worker read at the same time, and what one of
   * them forgets must not be missing for another. An endpoint that is not to be found is an error,
   * because whoever went on without it would lose its deliveries.
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
      const { rows } = await connection.query<EndpointVersion>(
        `select id, environment_id as "environmentId", revision
           from counterfoil.webhook_endpoints
          where environment_id = any($1) and status <> 'deleted' order by id`,
        [environmentIds],
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

/** Reads endpoints as they are now. Throws when one of them is not to be found. */
async function readRows(
  connection: Connection,
  versions: readonly EndpointVersion[],
): Promise<ReadonlyMap<string, Known>> {
  if (versions.length === 0) return new Map();
  const { rows } = await connection.query<{ id: string; revision: string; state: string }>(
    `select id, revision, state from ${await servingTable(connection)}
      where environment_id = any($1) and id = any($2)`,
    [
      [...new Set(versions.map(({ environmentId }) => environmentId))],
      versions.map(({ id }) => id),
    ],
  );
  const read = new Map(
    rows.map(({ id, revision, state }): [string, Known] => [
      id,
      { revision, row: JSON.parse(state) as EndpointRow, destination: null },
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
