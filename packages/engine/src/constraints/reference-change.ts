import type { AnyAggregate, Instant, Reference } from '@counterfoil/kernel';
import type { StreamState } from '../stream-cache/stream-state.ts';

/** The change that a decision makes in the references from and to its record. */
export interface ReferenceChange {
  /** Records that it did not hang on before. */
  readonly references: readonly Reference[];
  /** True when nothing may refer to the record any more. */
  readonly isRemoval: boolean;
}

const nothing: readonly Reference[] = [];

const keyOf = ({ category, id }: Reference): string => `${category}\n${id}`;

/** Tells whether all of the second list are in the first. */
const namesAll = (references: readonly Reference[], others: readonly Reference[]): boolean => {
  if (others.length === 0) return true;
  const known = new Set(references.map(keyOf));
  return others.every((other) => known.has(keyOf(other)));
};

/** The records that one state of a record refers to and the other does not, each record once. */
function addedReferences(
  { refersTo }: AnyAggregate,
  before: unknown,
  after: unknown,
  at: Instant,
): readonly Reference[] {
  const has: readonly Reference[] = refersTo?.(after, at) ?? nothing;
  if (has.length === 0) return nothing;
  const known = new Set((refersTo?.(before, at) ?? nothing).map(keyOf));
  return has.filter((reference) => {
    const isNew = !known.has(keyOf(reference));
    known.add(keyOf(reference));
    return isNew;
  });
}

/** Returns what a decision changes in the references from and to its record. */
export const referenceChange = (
  aggregate: AnyAggregate,
  before: unknown,
  after: unknown,
  at: Instant,
): ReferenceChange => ({
  references: addedReferences(aggregate, before, after, at),
  isRemoval: aggregate.isRemoved?.(after) === true && !aggregate.isRemoved(before),
});

interface Claimed extends ReferenceChange {
  readonly claimIds: readonly string[];
  /** Revision on which the change was decided. */
  readonly decidedAt: number;
}

/**
 * Tells whether the references that a record is about to make have been claimed. A record goes out
 * of use only at the revision up to which all claims on it have been looked into.
 */
export function isReferenceCovered(
  ticket: Claimed | null,
  { references, isRemoval }: ReferenceChange,
  { revokedClaims, head }: StreamState<unknown>,
): boolean {
  if (references.length === 0 && !isRemoval) return true;
  if (!ticket || ticket.claimIds.some((id) => revokedClaims.has(id))) return false;
  if (isRemoval && !(ticket.isRemoval && ticket.decidedAt === head.revision)) return false;
  return namesAll(ticket.references, references);
}
