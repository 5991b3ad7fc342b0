import { BrokenInvariant } from '@counterfoil/kernel';

/** The parts of a stream name: category, scope (environment or tenant id) and the record's id. */
export interface StreamParts {
  readonly category: string;
  readonly scope: string;
  readonly id: string;
}

const shape = /^([a-z][a-z0-9_]*)-([A-Za-z0-9_]+)\.([A-Za-z0-9_]+)$/;

/**
 * The name of a record's stream: `<category>-<scope>.<id>`, with exactly one dash, so that
 * `<category>-<environment id>.` is a prefix of all streams of one kind in one environment.
 * Throws `BrokenInvariant` on parts that would break this.
 */
export function streamName({ category, scope, id }: StreamParts): string {
  const name = `${category}-${scope}.${id}`;
  if (!isStreamName(name)) throw new BrokenInvariant(`${name} is no stream name`);
  return name;
}

const idShape = /^[A-Za-z0-9_]{1,64}$/;

/**
 * Tells whether a text can be the id of a record at all. A caller's text that cannot is the id of no
 * record, and the look-up says so.
 */
export const isRecordId = (id: string): boolean => idShape.test(id);

/** Tells whether `streamName` could have made this name. */
export const isStreamName = (name: string): boolean => shape.test(name);

/** The parts of a stream name that `streamName` made; null for any other name. */
export function parseStreamName(name: string): StreamParts | null {
  const [, category, scope, id] = shape.exec(name) ?? [];
  return category && scope && id ? { category, scope, id } : null;
}

/** Prefix of all streams of a category. */
export const categoryPrefix = (category: string): string => `${category}-`;
