import type { HistoryEvent } from '../history.ts';

/** The invariants of a wallet ledger, as they are stated publicly. */
export type Invariant =
  | 'I1'
  | 'I2'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I6'
  | 'I7'
  | 'I8'
  | 'I9'
  | 'I10'
  | 'I11';

/** The first place at which a ledger breaks an invariant. */
export interface Fault {
  readonly invariant: Invariant;
  /** Revision of the event at fault; null when it is no single event. */
  readonly revision: number | null;
  readonly message: string;
}

/** Thrown inside of a checker; `checker` turns it into the fault that it gives. */
class Found extends Error {
  readonly revision: number | null;
  constructor(revision: number | null, message: string) {
    super(message);
    this.revision = revision;
  }
}

/** States what must be true at an event, or of the whole. */
export function must(condition: boolean, at: HistoryEvent | null, message: string): void {
  if (!condition) throw new Found(at?.revision ?? null, message);
}

/**
 * A checker returns the first fault, or null. An event that cannot even be read is a fault, too.
 */
export const checker =
  <Evidence>(invariant: Invariant, check: (evidence: Evidence) => void) =>
  (evidence: Evidence): Fault | null => {
    try {
      check(evidence);
      return null;
    } catch (error) {
      const revision = error instanceof Found ? error.revision : null;
      return { invariant, revision, message: error instanceof Error ? error.message : `${error}` };
    }
  };
