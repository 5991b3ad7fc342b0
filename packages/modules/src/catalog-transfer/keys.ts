/**
 * The name by which a file refers to a record: a value that only one record has, or else its name.
 */
export interface Called {
  readonly unique: string | null;
  readonly name: string;
}

/**
 * Keys by which records of one kind are told apart without ids, in the order in which they are
 * given: the unique value, else the name. Of several with one name the later ones are numbered:
 * `Tokens`, `Tokens #2`. A record with a unique value is never numbered, whatever the others are
 * called.
 */
export function naturalKeys(records: readonly Called[]): readonly string[] {
  const taken = new Set(records.flatMap(({ unique }) => unique ?? []));
  return records.map(({ unique, name }) => {
    if (unique !== null) return unique;
    let key = name;
    for (let number = 2; taken.has(key); number += 1) key = `${name} #${number}`;
    taken.add(key);
    return key;
  });
}

/** Keys and ids of one kind, both ways. */
export class Names {
  readonly #ids = new Map<string, string>();
  readonly #keys = new Map<string, string>();

  add(key: string, id: string): void {
    this.#ids.set(key, id);
    this.#keys.set(id, key);
  }

  idOf(key: string): string | undefined {
    return this.#ids.get(key);
  }

  keyOf(id: string): string | undefined {
    return this.#keys.get(id);
  }
}

/** In the order of code units: the same on every machine. */
export const inTextOrder = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;
