/**
 * The quotas of an installation: how much of what lasts a tenant or an environment may have (D45). Deleted and
 * revoked records do not count. Requests that run at the same moment may exceed a quota by as many as they are.
 */
export interface Quotas {
  /** Refusals of a tenant that one process remembers in an hour. */
  readonly refusalsPerHour: number;
  /** Bytes of public messages of a tenant in an hour. */
  readonly publicBytesPerHour: number;
  /** Of a tenant. */
  readonly environments: number;
  readonly users: number;
  /** Of an environment. */
  readonly apiKeys: number;
  readonly webhookEndpoints: number;
  readonly eventSubscriptions: number;
}

/** The quotas where an installation sets none. */
export const defaultQuotas: Quotas = {
  refusalsPerHour: 100_000,
  publicBytesPerHour: 16 * 1024 ** 3,
  environments: 100,
  users: 1_000,
  apiKeys: 1_000,
  webhookEndpoints: 200,
  eventSubscriptions: 200,
};
