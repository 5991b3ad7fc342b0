import { invalidField, type Problem } from '@counterfoil/kernel';
import { pointerOf } from './issues.ts';
import { faultIn, faultInKey, NumberCheck } from './json-faults.ts';
import { jsonLimits } from './limits.ts';

const comma = 0x2c;

type Members = Record<PropertyKey, unknown>;

/** A list or an object whose end has not been seen. */
interface Level {
  readonly isList: boolean;
  /** The place of its bracket. */
  readonly start: number;
  /** Its items or members, the one that comes now included. */
  count: number;
  /** The place at which that one begins. */
  memberStart: number;
  /** The place from which on nothing of it has been parsed. */
  unparsedFrom: number;
  /** True when the member that comes now is a level that has been opened. */
  hasMember: boolean;
  /** Its parsed part; null while all of it may still go into one piece. */
  value: unknown[] | Members | null;
}

const newLevel = (isList: boolean, start: number): Level => ({
  isList,
  start,
  count: 1,
  memberStart: start + 1,
  unparsedFrom: start + 1,
  hasMember: false,
  value: null,
});

/**
 * A JSON text that is parsed in pieces, from its begin to its end. Whoever looks through it tells of each comma
 * and bracket outside of strings; the pieces are left to `JSON.parse`. Throws a 400 `Problem` on what
 * `parseJsonBody` refuses.
 */
export class JsonText {
  readonly #bytes: Buffer;
  readonly #numbers: NumberCheck;
  /** From the outside in. The first has no brackets: the value of the text is its one item. */
  readonly #levels: Level[];
  #top: Level;
  #parsedUpTo: number;

  constructor(bytes: Buffer, first: number, longNumbers: number) {
    this.#bytes = bytes;
    this.#numbers = new NumberCheck(longNumbers);
    this.#top = newLevel(true, first - 1);
    this.#levels = [this.#top];
    this.#parsedUpTo = first;
  }

  /** The number of bytes before a place that have not been parsed. */
  unparsedAt(place: number): number {
    return place - this.#parsedUpTo;
  }

  /** Parses what stands before a comma or an end. */
  parseUpTo(place: number): undefined {
    for (const [index, level] of this.#levels.entries()) {
      if (level.value === null) this.#open(level, this.#levels[index - 1]);
    }
    this.#parseRest(this.#top, place);
  }

  /** Goes into the list or object that begins at a place. */
  begin(isList: boolean, place: number): void {
    if (this.#levels.length > jsonLimits.depth) {
      const message = `must not be nested deeper than ${jsonLimits.depth} levels`;
      throw this.#refused(this.#top, [this.#keyAt(this.#top, place)], message);
    }
    this.#top = newLevel(isList, place);
    this.#levels.push(this.#top);
  }

  /** Goes on to the member after the comma at a place. */
  nextMember(place: number): void {
    const level = this.#top;
    if (this.#levels.length === 1) throw malformed();
    if (level.hasMember) this.#parseRest(level, place);
    level.hasMember = false;
    level.memberStart = place + 1;
    level.count += 1;
    const most = level.isList ? jsonLimits.items : jsonLimits.members;
    if (level.count <= most) return;
    throw this.#refused(
      level,
      [],
      `must have at most ${most} ${level.isList ? 'items' : 'members'}`,
    );
  }

  /** Leaves the list or object that ends at a place. */
  end(isList: boolean, place: number): void {
    const level = this.#top;
    if (this.#levels.length === 1 || level.isList !== isList) throw malformed();
    if (level.value !== null) this.#parseRest(level, place);
    this.#levels.pop();
    this.#top = this.#levels.at(-1) as Level;
    if (level.value !== null) this.#top.unparsedFrom = place + 1;
  }

  /** The value of the whole text, after its last bracket. */
  value(): unknown {
    if (this.#levels.length > 1) throw malformed();
    const root = this.#top;
    root.value ??= [];
    this.#parseRest(root, this.#bytes.length);
    if (!(0 in root.value)) throw malformed();
    return root.value[0];
  }

  /** Begins to build a list or an object, after all that stands before it in the one around it. */
  #open(level: Level, around: Level | undefined): void {
    level.value = level.isList ? [] : {};
    if (!around?.value) return;
    if (around.unparsedFrom < around.memberStart) {
      this.#parseMembers(around, around.value, around.memberStart - 1);
    }
    const key = this.#keyAt(around, level.start);
    const fault = faultInKey(key);
    if (fault) throw this.#refused(around, [], fault);
    if (key !== '__proto__') Reflect.set(around.value, key, level.value);
    around.hasMember = true;
  }

  /** Parses what has not been parsed of an opened level, up to a comma or an end. */
  #parseRest(level: Level, place: number): void {
    if (level.unparsedFrom > place || level.value === null) return;
    if (!level.hasMember) this.#parseMembers(level, level.value, place);
    // Between a value and what follows it is nothing but white space.
    else parsed(`[null${this.#text(level.unparsedFrom, place)}]`);
    level.unparsedFrom = place + 1;
    this.#parsedUpTo = place;
  }

  #parseMembers(level: Level, into: unknown[] | Members, place: number): void {
    const text = this.#text(level.unparsedFrom, place);
    const members = parsed(level.isList ? `[${text}]` : `{${text}}`) as unknown[] | Members;
    // Something stands before a comma, and after it.
    const mayBeEmpty = level.count === 1 && this.#bytes[place] !== comma;
    if (!mayBeEmpty && isEmpty(members)) throw malformed();
    const fault = faultIn(members);
    if (fault) {
      const [first = '', ...inner] = fault.path;
      const key = Array.isArray(into) ? into.length + Number(first) : first;
      throw this.#refused(level, fault.path.length > 0 ? [key, ...inner] : [], fault.message);
    }
    this.#numbers.check(text);
    if (Array.isArray(into)) into.push(...(members as unknown[]));
    else Object.assign(into, members);
  }

  /** The key of the member of a level that is a list or an object and begins at a place. */
  #keyAt(level: Level, place: number): PropertyKey {
    const head = this.#text(level.memberStart, place);
    if (level.isList) {
      parsed(`[${head}null]`);
      return level.count - 1;
    }
    const [name, ...others] = Object.keys(parsed(`{${head}null}`) as Members);
    if (name === undefined || others.length > 0) throw malformed();
    return name;
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to);
  }

  /** The 400 for a level, or for what a path leads to from there. */
  #refused(level: Level, path: readonly PropertyKey[], message: string): Problem {
    const levels = this.#levels.slice(0, this.#levels.indexOf(level) + 1);
    const outer = levels.flatMap((each, index) => {
      const around = levels[index - 1];
      return around ? [this.#keyAt(around, each.start)] : [];
    });
    // The list around the text is none of its own.
    return invalidField(pointerOf([...outer, ...path].slice(1)), message);
  }
}

const isEmpty = (members: object): boolean =>
  Array.isArray(members) ? members.length === 0 : Object.keys(members).length === 0;

const malformed = (): Problem => invalidField('', 'the body must be well-formed JSON');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed();
  }
}
