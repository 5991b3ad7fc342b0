import { parse as parseQueryString } from 'node:querystring';
import { type FieldProblem, Problem } from '@counterfoil/kernel';
import { z } from 'zod';
import { isMap } from './fields.ts';
import { describeIssue, fieldProblemsOf, maximumFieldProblems, pointerOf } from './issues.ts';
import { faultInText } from './json-faults.ts';
import { type Found, finderOf } from './known-names.ts';
import { longList, type Parts, partsOf } from './long-lists.ts';
import type { Pieces } from './pieces.ts';

/** The part of a request in which a value stands. */
export type RequestPart = 'path' | 'query' | 'header' | 'body';

/** The names of a request that have no effect (D6). */
export interface Names {
  /** True when names that nobody knows are ignored instead of refused. */
  readonly isLenient: boolean;
  /** JSON pointers to the members that were left out, the first of them. */
  readonly ignored: string[];
}

/**
 * Checks and converts one part of a request. Throws a 400 `Problem` that names what is wrong. Members that
 * are to be left out are removed from the input and added to the ignored names.
 */
export type Parser = (input: unknown, names: Names) => Pieces<unknown>;

/** Items of a list that are checked without a pause. */
const itemsInPiece = 50;

/** Compiles a schema to a parser. A request builds nothing but the result. */
export function parserOf(schema: z.ZodType, part: RequestPart): Parser {
  const whole = checkOf(schema);
  const parts = partsOf(schema);
  const inParts = parts && checkInParts(parts);
  return function* parse(input, names) {
    const faults = new Faults(part, names);
    const value = inParts?.isLong(input)
      ? yield* inParts.check(input, faults)
      : whole(input, [], faults);
    faults.refuse(input);
    return value;
  };
}

const parseOptions = { error: describeIssue, async: false };

/** Checks a value at a path, and converts it. What is wrong becomes a fault. */
type Check = (input: unknown, path: readonly PropertyKey[], faults: Faults) => unknown;

function checkOf(schema: z.ZodType): Check {
  const compiled = z.compile(schema);
  const find = finderOf(schema);
  return (input, path, faults) => {
    if (find) faults.leaveOut(find(input, path));
    // `safeParse` would describe every issue, which costs far more than to find it.
    const parsed = compiled._zod.run({ value: input, issues: [] }, parseOptions);
    if (parsed instanceof Promise) throw new z.core.$ZodAsyncError();
    if (parsed.issues.length > 0) faults.add(parsed.issues, path);
    return parsed.value;
  };
}

/** Checks an object and the items of its lists one after the other, up to as many faults as are told. */
function checkInParts({ shell, items }: Parts) {
  const checkShell = checkOf(shell);
  const checkItem = new Map([...items].map(([name, schema]) => [name, checkOf(schema)]));
  return {
    isLong: (input: unknown): input is Record<string, unknown> =>
      isMap(input) && [...items.keys()].some((name) => lengthOf(input[name]) > longList),
    *check(input: Record<string, unknown>, faults: Faults): Pieces<unknown> {
      const value = checkShell(input, [], faults) as Record<string, unknown>;
      for (const [name, check] of checkItem) {
        const list = value[name];
        if (!Array.isArray(list)) continue;
        const checked: unknown[] = [];
        for (const [index, item] of list.entries()) {
          if (faults.areMany) break;
          checked.push(check(item, [name, index], faults));
          if (index % itemsInPiece === itemsInPiece - 1) yield;
        }
        value[name] = checked;
      }
      return value;
    },
  };
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

/** The faults of one part of a request. */
class Faults {
  readonly #part: RequestPart;
  readonly #names: Names;
  /** Pointers to members that nobody knows. */
  readonly #unknown: string[] = [];
  readonly #issues: z.core.$ZodRawIssue[] = [];

  constructor(part: RequestPart, names: Names) {
    this.#part = part;
    this.#names = names;
  }

  /** True when there are as many as are told to the caller. */
  get areMany(): boolean {
    return this.#unknown.length + this.#issues.length >= maximumFieldProblems;
  }

  /** Removes members from their objects, and remembers those that are refused. Throws for a list that is too long. */
  leaveOut({ superfluous, tooLong: list }: Found): void {
    if (list) throw tooLong(list, this.#part);
    const { isLenient, ignored } = this.#names;
    for (const { holder, name, path, why } of superfluous) {
      delete holder[name];
      if (why === 'absent') continue;
      const pointers = why === 'unknown' && !isLenient ? this.#unknown : ignored;
      if (pointers.length < maximumFieldProblems) pointers.push(pointerOf(path));
    }
  }

  add(issues: readonly z.core.$ZodRawIssue[], path: readonly PropertyKey[]): void {
    for (const issue of issues.slice(0, maximumFieldProblems - this.#issues.length)) {
      this.#issues.push(
        path.length === 0 ? issue : { ...issue, path: [...path, ...(issue.path ?? [])] },
      );
    }
  }

  /** Throws the 400 for all of them, if there are any. */
  refuse(input: unknown): void {
    if (this.#unknown.length === 0 && this.#issues.length === 0) return;
    const part = this.#part;
    const issues = this.#issues
      .map((issue) => z.core.util.finalizeIssue(issue, parseOptions, z.config()))
      .map((issue) => (part === 'query' && isRepeated(issue, input) ? withMessage(issue) : issue));
    const refused = this.#unknown.map((pointer) => ({ pointer, message: unknownName[part] }));
    const wrong = [...refused, ...fieldProblemsOf(issues)].slice(0, maximumFieldProblems);
    throw invalidRequest(wrong, part);
  }
}

type Issue = z.core.$ZodIssue;

/** Codes of issues with a value of the wrong kind, as an array is for a parameter that takes one value. */
const wrongKinds: readonly string[] = ['invalid_type', 'invalid_union', 'invalid_value'];

/** Tells whether a parameter of the query that takes one value was given several times. */
const isRepeated = ({ code, path: [name, ...inner] }: Issue, query: unknown): boolean =>
  inner.length === 0 &&
  wrongKinds.includes(code ?? '') &&
  isMap(query) &&
  Array.isArray(query[String(name)]);

const withMessage = ({ path }: Issue): Issue => ({
  code: 'custom',
  path,
  message: 'is given more than once: give it once',
});

const tooLong = ({ path, maximum }: NonNullable<Found['tooLong']>, part: RequestPart): Problem => {
  const message = `must have at most ${maximum} item${maximum === 1 ? '' : 's'}`;
  return invalidRequest([{ pointer: pointerOf(path), message }], part);
};

const unknownName: Readonly<Record<RequestPart, string>> = {
  path: 'is not known',
  query: 'is no parameter of this request',
  header: 'is not known',
  body: 'is no field of this request',
};

/**
 * The 400 for wrong values. Pointers are relative to the part of the request; `details.in` names the
 * part unless it is the body.
 */
export function invalidRequest(errors: readonly FieldProblem[], part: RequestPart): Problem {
  const [first] = errors;
  const name = first?.pointer.slice(1) || (part === 'body' ? 'request' : part);
  const others = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : '';
  return new Problem('validation_error', `${name}: ${first?.message ?? 'is not valid'}${others}`, {
    ...(part !== 'body' && { details: { in: part } }),
    errors,
  });
}

/** The parameters in the query of a URL, decoded; one that is repeated is an array. */
export function queryOf(url: string): Readonly<Record<string, unknown>> {
  const mark = url.indexOf('?');
  if (mark < 0) return {};
  const text = url.slice(mark + 1);
  if (text.includes('%')) refuseBadEncoding(text);
  // The length of a URL is limited by the server, so the number of parameters need not be.
  const query = parseQueryString(text, '&', '=', { maxKeys: 0 });
  refuseFaultyTexts(query, 'query');
  return query;
}

/** Refuses a wrong percent-encoding, which `node:querystring` would leave as it is. */
function refuseBadEncoding(text: string): void {
  try {
    decodeURIComponent(text);
  } catch {
    const message = 'the percent-encoding of the query is malformed';
    throw invalidRequest([{ pointer: '', message }], 'query');
  }
}

/** Refuses texts that could not be stored or compared: those with NUL characters. */
export function refuseFaultyTexts(
  values: Readonly<Record<string, unknown>>,
  part: RequestPart,
): void {
  for (const name in values) {
    const fault = faultInText(name) ?? faultInText(String(values[name]));
    if (fault !== null)
      throw invalidRequest([{ pointer: pointerOf([name]), message: fault }], part);
  }
}
