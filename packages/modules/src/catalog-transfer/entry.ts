import { canonicalJson, Problem } from '@counterfoil/kernel';
import { ZodError } from 'zod';
import { inTextOrder, type Names } from './keys.ts';
import type { Reference } from './kinds.ts';
import { type Entry, type SimpleSection, simpleSections } from './schema.ts';

/** Everything that is wrong with a document, gathered so that it can be told at once. */
export class Faults {
  readonly all: { pointer: string; message: string }[] = [];

  add(pointer: string, message: string): void {
    this.all.push({ pointer, message });
  }

  /** Does something for the part of the document at a pointer; undefined when that is wrong. */
  at<Value>(pointer: string, work: () => Value): Value | undefined {
    try {
      return work();
    } catch (error) {
      if (error instanceof ZodError) this.#addIssues(pointer, error);
      else if (error instanceof Problem) this.#addProblem(pointer, error);
      else throw error;
      return undefined;
    }
  }

  #addIssues(pointer: string, { issues }: ZodError): void {
    for (const { path, message } of issues) this.add(`${pointer}${pointerOf(path)}`, message);
  }

  #addProblem(pointer: string, { errors, message }: Problem): void {
    if (!errors) this.add(pointer, message);
    // Decisions on many records at once point at them from the root of the document.
    const root = `${pointer.split('/').slice(0, 3).join('/')}/`;
    for (const fault of errors ?? []) {
      const isWhole = fault.pointer.startsWith(root);
      this.add(isWhole ? fault.pointer : `${pointer}${fault.pointer}`, fault.message);
    }
  }
}

const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export type AllNames = Readonly<Record<SimpleSection, Names>>;

export const mapSections = <Value>(make: () => Value): Record<SimpleSection, Value> =>
  Object.fromEntries(simpleSections.map((section) => [section, make()])) as Record<
    SimpleSection,
    Value
  >;

/** The fields of an entry with ids in the place of keys. Unknown ids are added to the faults. */
export function withIds(
  entry: Entry,
  references: Readonly<Record<string, Reference>>,
  { names, faults, pointer }: { names: AllNames; faults: Faults; pointer: string },
): Entry {
  const fields: Record<string, unknown> = { ...entry };
  for (const [name, { section, field }] of Object.entries(references)) {
    delete fields[name];
    const key = entry[name];
    if (key === undefined || key === null) continue;
    const id = typeof key === 'string' ? names[section].idOf(key) : undefined;
    if (id === undefined) faults.add(`${pointer}/${name}`, `names nothing in ${section}`);
    else fields[field] = id;
  }
  return fields;
}

/** Adds a fault for each member that an entry may not have: a misspelt one must not be lost. */
export function refuseUnknown(
  entry: Entry,
  known: readonly string[],
  { faults, pointer }: { faults: Faults; pointer: string },
): void {
  for (const name of Object.keys(entry)) {
    if (!known.includes(name)) faults.add(`${pointer}${pointerOf([name])}`, 'is not known');
  }
}

/** The entry of a record: keys in the place of ids, nothing that is empty, members in one order. */
export function entryOf(
  fields: Entry,
  references: Readonly<Record<string, Reference>>,
  names: AllNames,
): Entry {
  const shown: Record<string, unknown> = { ...fields };
  for (const [name, { section, field }] of Object.entries(references)) {
    const id = fields[field];
    delete shown[field];
    shown[name] = typeof id === 'string' ? (names[section].keyOf(id) ?? id) : null;
  }
  return withoutEmpty(shown);
}

/** A value without null members and without empty lists and maps in it. */
export function withoutEmpty(fields: Entry): Entry {
  const kept = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    const plain = plainOf(value);
    return plain === null || isBare(plain) ? [] : [[name, plain]];
  });
  return Object.fromEntries(kept);
}

/** Members in the order of their names, whether they come from memory or from the log. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const members = Object.entries(value).sort(([left], [right]) => inTextOrder(left, right));
  return Object.fromEntries(
    members.flatMap(([name, inner]) =>
      inner === null || inner === undefined ? [] : [[name, plainOf(inner)]],
    ),
  );
}

const isBare = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** The names of the members in which two entries differ, in order. */
export const differences = (left: Entry, right: Entry): readonly string[] =>
  [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((name) => canonicalJson(left[name] ?? null) !== canonicalJson(right[name] ?? null))
    .sort();
