import { BrokenInvariant } from '@counterfoil/kernel';
import type { z } from 'zod';

/**
 * A request to a route that succeeds. The documentation shows it, and the tests that try every route begin
 * with it. What is left out of the path is named by the schema of the placeholder.
 */
export interface RouteExample<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly params?: Partial<z.input<Params>>;
  readonly query?: z.input<Query>;
  readonly body?: z.input<Body>;
  /** The kind of record that the request makes, such as `cust`. */
  readonly makes?: string;
  /** The member of the answer that holds the record made, where that is not the whole answer. */
  readonly madeIn?: string;
  /** Kinds of which a record has to be there, though the request names none. */
  readonly needs?: readonly string[];
  /**
   * Fields of the query and the body that name records although their schema does not say so, with what
   * names one there: `cust` for its id, `cust.external_id` for another of its fields.
   */
  readonly names?: Readonly<Record<string, string>>;
  /** Fields that look as if they named a record, and hold a text of the caller's own. */
  readonly texts?: readonly string[];
}

const PLACEHOLDER = /^\{(text|record):([^}]*)\}$/;

/** Stands in an example for a text that no other record has, such as a name or a code. */
export const newText = (sample: string): string => `{text:${sample}}`;

/** Stands in an example for the id of a new record of a kind, or for another of its fields. */
export const newRecord = (kind: string, field = 'id'): string =>
  `{record:${kind}${field === 'id' ? '' : `.${field}`}}`;

/** The values that `newText` and `newRecord` stand for. */
export interface ExampleValues {
  readonly text: (sample: string) => string;
  /** Takes the kind of the record, with a field after a dot when it is not the id. */
  readonly record: (name: string) => string;
}

/** Returns a part of an example with values in all its placeholders. */
export function filledExample<Part>(part: Part, values: ExampleValues): Part {
  const text = JSON.stringify(part, (_, value: unknown) => {
    if (typeof value !== 'string') return value;
    const [, kind, name = ''] = PLACEHOLDER.exec(value) ?? [];
    if (kind === undefined) return value;
    return kind === 'text' ? values.text(name) : values.record(name);
  });
  return text === undefined ? part : JSON.parse(text);
}

/** Returns a part of an example as the documentation shows it. */
export const shownExample = <Part>(part: Part): Part =>
  filledExample(part, { text: (sample) => sample, record: shownRecord });

function shownRecord(name: string): string {
  const [kind, field] = name.split('.');
  if (kind === undefined) throw new BrokenInvariant(`an example names ${name}`);
  return field ?? `${kind}_01KA0000000000000000000000`;
}
