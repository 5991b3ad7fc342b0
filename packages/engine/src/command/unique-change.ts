import type { AnyAggregate, UniqueValue } from '@counterfoil/kernel';

/** What a decision changes in the unique values of its record. */
export interface UniqueChange {
  readonly added: readonly UniqueValue[];
  readonly dropped: readonly UniqueValue[];
}

const contains = (values: readonly UniqueValue[], value: UniqueValue): boolean =>
  values.some((other) => other.name === value.name && other.value === value.value);

/** Whether all of the second list are in the first. */
export const containsAll = (
  values: readonly UniqueValue[],
  others: readonly UniqueValue[],
): boolean => others.every((value) => contains(values, value));

/** The unique values that one state of a record has and the other has not. */
export function uniqueChange(
  aggregate: AnyAggregate,
  before: unknown,
  after: unknown,
): UniqueChange {
  const had = aggregate.unique?.(before) ?? [];
  const has = aggregate.unique?.(after) ?? [];
  return {
    added: has.filter((value) => !contains(had, value)),
    dropped: had.filter((value) => !contains(has, value)),
  };
}
