import type { ShownPart } from '@counterfoil/engine';
import { OperatorError } from '../settings.ts';

const monthShape = /^\d{4}-(0[1-9]|1[0-2])$/;

/** The months that a command line names, each once. Throws `OperatorError` for one that is none, or of which there is no usage. */
export function chosenMonths(
  names: readonly string[],
  known: readonly Pick<ShownPart, 'name'>[],
): readonly string[] {
  for (const name of names) {
    if (!monthShape.test(name)) throw new OperatorError(`"${name}" is no month: write 2026-03.`);
    if (known.every((month) => month.name !== name)) {
      throw new OperatorError(
        `There is no month ${name} among those of usage: counterfoil usage months lists them.`,
      );
    }
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
