import type { Principal } from './context.ts';

/**
 * Reads of operational tables, which no log event fills: the queue of webhooks, for example. They
 * run as the role of readers, for one tenant and environment: a table that is read this way grants
 * that role what it may see and has row-level security.
 */
export interface OperationalReads {
  /**
   * Runs one statement. Whole numbers beyond 32 bits and decimals come as text, instants as RFC
   * 3339. Throws a `Problem` service_unavailable when the database cannot answer now.
   */
  query<Row>(
    principal: Pick<Principal, 'tenantId' | 'environmentId'>,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]>;
}
