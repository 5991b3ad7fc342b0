import type { Placed, Principal } from '@counterfoil/engine/define';
import type {
  Aggregate,
  EnvironmentId,
  EventCatalogue,
  EventOf,
  Instant,
  TenantId,
} from '@counterfoil/kernel';
import { type ApiKeyRecord, apiKey } from './api-key.ts';
import { allows, commonRoles } from './roles.ts';
import { user } from './user.ts';

/** The aggregates whose events a key registry has to be given. */
export const authenticationAggregates = [apiKey, user] as const;

/** As much of an event as the registry needs; data is of the current version. */
export type RegistryEvent = Pick<
  Placed<EventOf<EventCatalogue>>,
  'type' | 'data' | 'stamp' | 'aggregate_id' | 'revision'
>;

/** The principal behind each key that is presented. */
export interface KeyRegistry {
  /** Takes in an event. Events of one stream come in order; one that comes again changes nothing. */
  apply(event: RegistryEvent): void;
  /**
   * The caller who presents the key with this SHA-256, as of now; null when the key is unknown,
   * revoked or expired or its user is gone.
   */
  find(hash: string, now: Instant): Principal | null;
}

/** The current records of one aggregate, one entry each. */
function records<Catalogue extends EventCatalogue, State>(
  aggregate: Aggregate<string, Catalogue, State>,
) {
  const entries = new Map<string, { readonly state: State; readonly revision: number }>();
  return {
    /** The record after the event; null when the event is another aggregate's or not new. */
    apply(event: RegistryEvent): State | null {
      if (!Object.hasOwn(aggregate.events, event.type)) return null;
      const known = entries.get(placeOf(event.stamp.tenant_id, event.aggregate_id));
      if (known && event.revision <= known.revision) return null;
      const before = known?.state ?? aggregate.initial;
      const state = aggregate.evolve(before, event as Parameters<typeof aggregate.evolve>[1]);
      entries.set(placeOf(event.stamp.tenant_id, event.aggregate_id), {
        state,
        revision: event.revision,
      });
      return state;
    },
    get: (place: string): State | null => entries.get(place)?.state ?? null,
  };
}

const placeOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;

/** An empty registry. It holds one entry per key and per user that ever existed, and no key. */
export function keyRegistry(): KeyRegistry {
  const keys = records(apiKey);
  const users = records(user);
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

  return {
    apply(event) {
      principals.clear();
      users.apply(event);
      const key = keys.apply(event);
      if (key) placeByHash.set(key.hash, placeOf(key.tenant_id, key.id));
    },
    find(hash, now) {
      const key = keys.get(placeByHash.get(hash) ?? '');
      if (key?.status !== 'published') return null;
      if (key.expires_at !== null && key.expires_at <= now) return null;
      const known = principals.get(hash) ?? principalOf(key);
      if (known) principals.set(hash, known);
      return known;
    },
  };
}
