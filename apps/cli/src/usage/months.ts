import type { ShownPart } from '@counterfoil/engine';
import { type Instant, lastInstant } from '@counterfoil/kernel';
import { OperatorError } from '../settings.ts';

const monthShape = /^\d{4}-(0[1-9]|1[0-2])$/;

/**
 * The months that a command line names, each once. Throws `OperatorError` for one that is none, of which there is no usage,
 * or that ends after an instant.
 */
export function chosenMonths(
  names: readonly string[],
  known: readonly Pick<ShownPart, 'name' | 'end'>[],
  endedAt: Instant = lastInstant,
): readonly string[] {
  for (const name of names) {
    if (!monthShape.test(name)) throw new OperatorError(`"${name}" is no month: write 2026-03.`);
    const month = known.find((one) => one.name === name);
    if (!month) {
      throw new OperatorError(
        `There is no month ${name} among those of usage: counterfoil usage months lists them.`,
      );
    }
    if (month.end > endedAt) throw new OperatorError(`The month ${name} has not ended.`);
  }
  return [...new Set(names)].sort();
}

/** A month as a line for people. */
export function describedMonth({
  name,
  isDropped,
  isNeeded,
  wish,
  problem,
  bytes,
}: ShownPart): string {
  const state = isDropped ? 'dropped' : `kept, ${(Number(bytes) / 1_000_000).toFixed(1)} MB`;
  return [
    `${name}: ${state}`,
    ...(!isDropped && wish === 'dropped' ? ['to be dropped'] : []),
    ...(!isDropped && wish === 'kept' ? ['whatever its age'] : []),
    ...(isDropped && wish === 'kept' ? ['to be filled again'] : []),
    ...(isDropped && isNeeded ? ['needed for an event that was voided'] : []),
    ...(problem === null ? [] : [problem]),
  ].join('; ');
}
