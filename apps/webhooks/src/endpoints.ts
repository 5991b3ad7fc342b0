import type { Connection } from '@counterfoil/engine';
import { type EndpointRow, type Payload, type Sealer, sealingContext } from '@counterfoil/modules';
import type { Target } from './fan-out-plan.ts';

/** Identity of one state of one endpoint. */
export interface EndpointVersion {
  readonly id: string;
  readonly environmentId: string;
  readonly revision: string;
}

/** Where and how deliveries to an endpoint go. */
export interface Destination {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The current secret first. */
  readonly secrets: readonly SigningSecret[];
  readonly payload: Payload;
}

interface SigningSecret {
  readonly text: string;
  /** Milliseconds since 1970 from which on it no longer signs; null: the current one. */
  readonly until: number | null;
}

/** The secrets that sign at this moment. */
export const secretsAt = ({ secrets }: Destination, now: number): readonly string[] =>
  secrets.filter(({ until }) => until === null || until > now).map(({ text }) => text);

/** The endpoints of the read model, kept in memory by revision. */
export interface Endpoints {
  /** The endpoints of some environments that are not deleted, as the database shows them now. */
  targets(connection: Connection, environmentIds: readonly string[]): Promise<readonly Target[]>;
  /** Reads what is not known yet of these versions, or of later ones. */
  prepare(connection: Connection, versions: readonly EndpointVersion[]): Promise<void>;
  /** The destination of a prepared endpoint. Throws `SealBroken` under another key. */
  destination(id: string): Destination;
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

export function createEndpoints(sealer: Sealer): Endpoints {
  const known = new Map<string, Known>();

  const prepare: Endpoints['prepare'] = async (connection, versions) => {
    const missing = versions.filter(({ id, revision }) => known.get(id)?.revision !== revision);
    if (missing.length === 0) return;
    if (known.size > cachedMaximum) known.clear();
    const { rows } = await connection.query<{ id: string; revision: string; state: string }>(
      `select id, revision, state from ${await servingTable(connection)}
        where environment_id = any($1) and id = any($2)`,
      [
        [...new Set(missing.map(({ environmentId }) => environmentId))],
        missing.map(({ id }) => id),
      ],
    );
    for (const { id, revision, state } of rows) {
      known.set(id, { revision, row: JSON.parse(state) as EndpointRow, destination: null });
    }
  };

  return {
    prepare,
    targets: async (connection, environmentIds) => {
      const { rows } = await connection.query<EndpointVersion>(
        `select id, environment_id as "environmentId", revision
           from counterfoil.webhook_endpoints
          where environment_id = any($1) and status <> 'deleted' order by id`,
        [environmentIds],
      );
      await prepare(connection, rows);
      return rows.flatMap(({ id }) => {
        const entry = known.get(id);
        return entry ? [targetOf(entry.row)] : [];
      });
    },
    destination: (id) => {
      const entry = known.get(id);
      if (!entry) throw new RangeError(`The endpoint ${id} is not in the read model`);
      entry.destination ??= destinationOf(entry.row, sealer);
      return entry.destination;
    },
  };
}

const targetOf = ({ endpoint, created_position }: EndpointRow): Target => ({
  id: endpoint.id,
  environmentId: endpoint.environment_id,
  createdPosition: BigInt(created_position),
  enabled: endpoint.enabled,
  eventTypes: endpoint.event_types,
  orderMode: endpoint.order_mode,
  guardSeconds: endpoint.order_guard_seconds,
});

function destinationOf({ endpoint }: EndpointRow, sealer: Sealer): Destination {
  const { id, url, payload, headers, secret, former_secrets } = endpoint;
  const context = sealingContext(id, 'secret');
  return {
    url,
    payload,
    secrets: [
      { text: sealer.open(secret, context), until: null },
      ...former_secrets.map((former) => ({
        text: sealer.open(former.secret, context),
        until: Date.parse(former.until),
      })),
    ],
    headers: headers
      ? (JSON.parse(
          sealer.open(headers.sealed, sealingContext(id, 'headers')),
        ) as Destination['headers'])
      : {},
  };
}
