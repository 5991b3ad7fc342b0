/**
 * The limits of backfills. The first is a rule of the tables: who changes it gives them another version.
 */
export const backfillLimits = {
  /** Events that wait in one backfill: the tables take its closing in one transaction. */
  events: 100_000,
  /** Backfills of an environment that are open at the same time. */
  open: 10,
  /** Customers and names of one page of a preview. */
  previewed: 50,
} as const;
