import type { Principal, RecordedEvent } from '@counterfoil/engine/define';
import type {
  Aggregate,
  EnvironmentId,
  EventCatalogue,
  EventOf,
  Instant,
  RecordStatus,
  TenantId,
} from '@counterfoil/kernel';
import { defaultQuotas, type Quotas } from '../quotas.ts';
import { type ApiKeyRecord, apiKey } from './api-key.ts';
import { environment } from './environment.ts';
import { allows, commonRoles } from './roles.ts';
import { type TenantRecord, tenant } from './tenant.ts';
import { user } from './user.ts';

/** The aggregates whose events a directory has to be given. */
export const directoryAggregates = [tenant, environment, user, apiKey] as const;

/** As much of an event as the directory needs; data is of the current version. */
export type DirectoryEvent = Pick<
  RecordedEvent<EventOf<EventCatalogue>>,
  'type' | 'data' | 'stamp' | 'aggregate_id' | 'revision'
>;

/** The kinds of records that are counted against a limit. */
export type Counted = 'environment' | 'user' | 'api_key';

/** The tenants, environments, users and API keys of the installation, in memory. */
export interface Directory {
  /** The quotas that its records are counted against. */
  readonly quotas: Quotas;
  /** Takes in an event. Events of one stream come in order; one that comes again changes nothing. */
  apply(event: DirectoryEvent): void;
  /**
   * The principal behind the key with this SHA-256, as of now; null when the key is unknown,
   * revoked or expired or its user is gone.
   */
  find(hash: string, now: Instant): Principal | null;
  /** The same by the id of a key that was made out elsewhere. */
  findKey(tenantId: string, keyId: string, now: Instant): Principal | null;
  /** Tells whether a tenant has an environment. */
  hasEnvironment(tenantId: string, environmentId: string): boolean;
  /** All tenants, newest first. */
  tenants(): readonly TenantRecord[];
  /** The number of published environments or users of a tenant, or of API keys of an environment. */
  count(kind: Counted, place: string): number;
}

/** A record as far as it is counted; null before it is created. */
type Countable = { readonly status: RecordStatus } | null;

/** The current records of one aggregate, one entry each, and how many are published in each place. */
function records<Catalogue extends EventCatalogue, State extends Countable>(
  aggregate: Aggregate<string, Catalogue, State>,
) {
  const entries = new Map<string, { readonly state: State; readonly revision: number }>();
  const published = new Map<string, number>();
  const countOf = (state: State): number => (state?.status === 'published' ? 1 : 0);
  return {
    /** The record after the event; null when the event is another aggregate's or not new. */
    apply({ stamp, ...event }: DirectoryEvent): State | null {
      if (!Object.hasOwn(aggregate.events, event.type)) return null;
      const place = placeOf(stamp.tenant_id, event.aggregate_id);
      const known = entries.get(place);
      if (known && event.revision <= known.revision) return null;
      const before = known?.state ?? aggregate.initial;
      const stamped = { ...event, stamp } as unknown as Parameters<typeof aggregate.evolve>[1];
      const state = aggregate.evolve(before, stamped);
      entries.set(place, { state, revision: event.revision });
      const scope = String(aggregate.scope === 'tenant' ? stamp.tenant_id : stamp.environment_id);
      published.set(scope, (published.get(scope) ?? 0) + countOf(state) - countOf(before));
      return state;
    },
    get: (place: string): State | null => entries.get(place)?.state ?? null,
    all: (): State[] => [...entries.values()].map(({ state }) => state),
    count: (scope: string): number => published.get(scope) ?? 0,
  };
}

const placeOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;

/** An empty directory. It holds one entry per record that ever existed, and no key. */
export function createDirectory(quotas: Quotas = defaultQuotas): Directory {
  const tenants = records(tenant);
  const counted = {
    environment: records(environment),
    user: records(user),
    api_key: records(apiKey),
  } as const satisfies Record<Counted, unknown>;
  const { environment: environments, user: users, api_key: keys } = counted;
  const placeByHash = new Map<string, string>();
  /**
   * The principal that each key stands for, worked out once; forgotten with any change of a key or
   * a user.
   */
  const principals = new Map<string, Principal>();

  const principalOf = (key: ApiKeyRecord): Principal | null => {
    const owner = users.get(placeOf(key.tenant_id, key.user_id));
    if (owner?.status !== 'published') return null;
    const roles = commonRoles(key.roles, owner.roles);
    return {
      tenantId: key.tenant_id as TenantId,
      environmentId: key.environment_id as EnvironmentId,
      userId: key.user_id,
      keyId: key.id,
      roles,
      allows: (permission) => allows(roles, permission),
    };
  };

  const principalAt = (place: string, now: Instant): Principal | null => {
    const key = keys.get(place);
    if (key?.status !== 'published') return null;
    if (key.expires_at !== null && key.expires_at <= now) return null;
    const known = principals.get(place) ?? principalOf(key);
    if (known) principals.set(place, known);
    return known;
  };

  return {
    quotas,
    apply(event) {
      principals.clear();
      tenants.apply(event);
      environments.apply(event);
      users.apply(event);
      const key = keys.apply(event);
      if (key) placeByHash.set(key.hash, placeOf(key.tenant_id, key.id));
    },
    find: (hash, now) => principalAt(placeByHash.get(hash) ?? '', now),
    findKey: (tenantId, keyId, now) => principalAt(placeOf(tenantId, keyId), now),
    hasEnvironment: (tenantId, environmentId) =>
      environments.get(placeOf(tenantId, environmentId))?.status === 'published',
    tenants: () =>
      tenants
        .all()
        .filter((state) => state !== null)
        .toSorted((left, right) => (left.created_at < right.created_at ? 1 : -1)),
    count: (kind, place) => counted[kind].count(place),
  };
}
