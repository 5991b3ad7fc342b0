/**
 * The limits of backfills. The first is a rule of the tables: who changes it gives them another version.
 */
export const backfillLimits = {
  /**
   * Events that wait in one backfill. The tables take its closing in one transaction, and nothing else meanwhile: it is
   * as much work as to take in as many live events, 0.05 ms of processor time for each, a third of it beside PostgreSQL.
   */
  events: 50_000,
  /** Backfills of an environment that are open at the same time. */
  open: 10,
  /** Customers and names of one page of a preview. */
  previewed: 50,
} as const;
