import type { AnyAggregate, Instant, Reference, UniqueValue } from '@counterfoil/kernel';

/** The change that a decision makes in the unique values of its record. */
export interface UniqueChange {
  readonly added: readonly UniqueValue[];
  readonly dropped: readonly UniqueValue[];
}

const contains = (values: readonly UniqueValue[], value: UniqueValue): boolean =>
  values.some((other) => other.name === value.name && other.value === value.value);

/** Tells whether two lists have the same values, in whatever order. None has a value twice. */
const isSameSet = (values: readonly UniqueValue[], others: readonly UniqueValue[]): boolean =>
  values.length === others.length && others.every((value) => contains(values, value));

const isSame = (left: UniqueValue | undefined, right: UniqueValue | undefined): boolean =>
  left !== undefined &&
  (left === right || (left.name === right?.name && left.value === right.value));

/**
 * The values of a list without those that it has in common with another one at both ends. A record may
 * hold a thousand values, of which a decision changes few: only these are then looked for.
 */
function differingPart(
  values: readonly UniqueValue[],
  others: readonly UniqueValue[],
): readonly UniqueValue[] {
  let start = 0;
  while (isSame(values[start], others[start])) start += 1;
  const shift = others.length - values.length;
  let end = values.length;
  while (end > start && end + shift > start && isSame(values[end - 1], others[end - 1 + shift])) {
    end -= 1;
  }
  return values.slice(start, end);
}

/** Each value once: a command that claimed one twice would wait for itself. */
function once(values: readonly UniqueValue[]): readonly UniqueValue[] {
  const seen = new Set<string>();
  return values.filter(({ name, value }) => {
    const isNew = !seen.has(`${name}\n${value}`);
    seen.add(`${name}\n${value}`);
    return isNew;
  });
}

/** The unique values that one state of a record has and the other has not. */
export function uniqueChange(
  aggregate: AnyAggregate,
  before: unknown,
  after: unknown,
): UniqueChange {
  const had = aggregate.unique?.(before) ?? [];
  const has = aggregate.unique?.(after) ?? [];
  return {
    added: once(differingPart(has, had).filter((value) => !contains(had, value))),
    dropped: once(differingPart(had, has).filter((value) => !contains(has, value))),
  };
}

/** The change that a decision makes in the references from and to its record. */
export interface ReferenceChange {
  /** Records that it did not refer to before. */
  readonly references: readonly Reference[];
  /** True when nothing may refer to the record any more. */
  readonly isRemoval: boolean;
}

const nothing: readonly Reference[] = [];

const keyOf = ({ category, id }: Reference): string => `${category}\n${id}`;

/** The references that one state of a record has and the other has not, each record once. */
export function referenceChange(
  { refersTo, isRemoved }: AnyAggregate,
  before: unknown,
  after: unknown,
  at: Instant,
): ReferenceChange {
  const isRemoval = isRemoved?.(after) === true && !isRemoved(before);
  const has: readonly Reference[] = refersTo?.(after, at) ?? nothing;
  if (has.length === 0) return { references: nothing, isRemoval };
  const known = new Set((refersTo?.(before, at) ?? nothing).map(keyOf));
  const references = has.filter((reference) => {
    const isNew = !known.has(keyOf(reference));
    known.add(keyOf(reference));
    return isNew;
  });
  return { references, isRemoval };
}

/** The part of a decision that has to be claimed before it is written. */
export interface ClaimedChange extends UniqueChange, ReferenceChange {
  /** Revision of the record's stream on which it was decided. */
  readonly decidedAt: number;
  readonly at: Instant;
}

/** The claims for a change that a command holds until it has come to its end. */
export interface ReservationLease extends ClaimedChange {
  readonly claimIds: readonly string[];
  /**
   * `committed` gives dropped values free, `failed` gives claimed ones back, `unknown` leaves
   * all as it is. Settling twice does nothing. Never rejects.
   */
  settle(outcome: 'committed' | 'failed' | 'unknown'): Promise<void>;
}

/** The stream of a record, as far as it says which claims still stand. */
interface Standing {
  readonly head: { readonly revision: number };
  /** Revision of the last event by which the record gave up a unique value. */
  readonly droppedAt: number;
  readonly revokedClaims: ReadonlySet<string>;
}

/** Tells whether a change needs no claims, or has those that it needs. */
export function isClaimed(
  lease: ReservationLease | null,
  change: ClaimedChange,
  stream: Standing,
): boolean {
  const { added, dropped, references, isRemoval } = change;
  const isOfValues = added.length > 0 || dropped.length > 0;
  const isOfReferences = references.length > 0 || isRemoval;
  if (!isOfValues && !isOfReferences) return true;
  if (!lease || lease.claimIds.some((id) => stream.revokedClaims.has(id))) return false;
  return (
    (!isOfValues || holdsValues(lease, change, stream)) &&
    (!isOfReferences || holdsReferences(lease, change, stream))
  );
}

/**
 * Claims of values do not stand any more once the record has given up a value after they were asked for:
 * another command of the record may have held the value by the same reservation, and then it is free for
 * everybody again. And they have to be for this very change: once it is appended, every value that they
 * say is given up is free for others.
 */
const holdsValues = (
  lease: ClaimedChange,
  change: UniqueChange,
  { droppedAt }: Standing,
): boolean =>
  lease.decidedAt >= droppedAt &&
  isSameSet(lease.added, change.added) &&
  isSameSet(lease.dropped, change.dropped);

/** A record goes out of use only at the revision up to which all claims on it have been looked into. */
function holdsReferences(
  lease: ClaimedChange,
  { references, isRemoval }: ReferenceChange,
  { head }: Standing,
): boolean {
  if (isRemoval && !(lease.isRemoval && lease.decidedAt === head.revision)) return false;
  const claimed = new Set(lease.references.map(keyOf));
  return references.every((reference) => claimed.has(keyOf(reference)));
}
