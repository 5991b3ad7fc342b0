import type { AnyAggregate, UniqueValue } from '@counterfoil/kernel';

/** The change that a decision makes in the unique values of its record. */
export interface UniqueChange {
  readonly added: readonly UniqueValue[];
  readonly dropped: readonly UniqueValue[];
}

const contains = (values: readonly UniqueValue[], value: UniqueValue): boolean =>
  values.some((other) => other.name === value.name && other.value === value.value);

/** Tells whether two lists have the same values, in whatever order. None has a value twice. */
export const isSameSet = (
  values: readonly UniqueValue[],
  others: readonly UniqueValue[],
): boolean => values.length === others.length && others.every((value) => contains(values, value));

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
