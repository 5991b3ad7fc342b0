import type { FileName } from '@counterfoil/engine/define';

/** The parts of names by which files of tasks are told apart. */
const uploadSuffix = '/file';
const badRowsSuffix = '/bad-rows';

/** The file of an import. */
export const uploadOf = (environmentId: string, taskId: string): FileName => ({
  environmentId,
  name: `${taskId}${uploadSuffix}`,
});

/** The rows of it that were not carried out, as NDJSON `{line, error, row}` (D82). */
export const badRowsOf = (environmentId: string, taskId: string): FileName => ({
  environmentId,
  name: `${taskId}${badRowsSuffix}`,
});

/** The hours for which the file of an import stays that nobody adds to, and for which an import waits for one. */
export const uploadHours = 7 * 24;

/** The hours for which files stay that nobody adds to, by a pattern of their names. */
export const keptHours: readonly (readonly [hours: number, nameLike: string])[] = [
  [uploadHours, `%${uploadSuffix}`],
  [30 * 24, `%${badRowsSuffix}`],
];
