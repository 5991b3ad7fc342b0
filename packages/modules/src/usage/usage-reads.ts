import type { FactReads, Place } from '@counterfoil/engine/define';

/** The reads that answer a question: those of a caller, or of the service itself. */
export interface UsageReads {
  readonly facts: FactReads;
  /** The place in which the question is asked. */
  readonly principal: Pick<Place, 'environmentId'>;
}
