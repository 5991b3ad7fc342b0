import type { FieldProblem } from '@counterfoil/kernel';
import type { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;
type Issue = z.core.$ZodIssue;

/** The most issues that one answer names; the rest are only counted. */
export const maximumFieldProblems = 50;

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  tuple: 'an array',
  null: 'null',
  undefined: 'absent',
  never: 'absent',
};

const formatNames: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'a URL',
  datetime: 'an RFC 3339 date-time',
  date: 'a date such as 2026-01-31',
  uuid: 'a UUID',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

const typeName = (expected: string): string => typeNames[expected] ?? `of type ${expected}`;

const listOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** The unit that a limit counts in: characters of a string, items of an array, none of a number. */
const unitOf = (origin: string, limit: number | bigint): string => {
  const plural = Number(limit) === 1 ? '' : 's';
  if (origin === 'string') return ` character${plural}`;
  if (origin === 'array' || origin === 'set') return ` item${plural}`;
  return '';
};

function describeSize(
  issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall>,
) {
  const isMaximum = issue.code === 'too_big';
  const limit = isMaximum ? issue.maximum : issue.minimum;
  const unit = unitOf(issue.origin, limit);
  const verb = unit ? 'must have' : 'must be';
  if (issue.exact) return `${verb} exactly ${limit}${unit}`;
  if (issue.inclusive === false) return `must be ${isMaximum ? 'less' : 'greater'} than ${limit}`;
  if (!isMaximum && issue.origin === 'string' && limit === 1) return 'must not be empty';
  return `${verb} at ${isMaximum ? 'most' : 'least'} ${limit}${unit}`;
}

/**
 * A sentence for people that says what to do about a validation issue. It is the error map of every
 * parse, so a message of a schema itself takes precedence. It never repeats the input.
 */
export function describeIssue(issue: RawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeName(issue.expected)}`;
    case 'too_big':
    case 'too_small':
      return describeSize(issue);
    case 'invalid_format':
      return `must be ${formatNames[issue.format] ?? `of the form ${issue.pattern ?? issue.format}`}`;
    case 'invalid_value':
      return `must be ${listOf(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `must not have ${listOf(issue.keys)}`;
    case 'invalid_key':
      return 'has a key that is not allowed';
    case 'invalid_union':
      return describeUnion(issue);
    default:
      return 'is not valid';
  }
}

function describeUnion({ options }: RawIssue): string {
  if (!Array.isArray(options) || options.length === 0) return 'has none of the allowed forms';
  return `must be ${listOf(options.map((value) => JSON.stringify(value)))}`;
}

/** A JSON pointer (RFC 6901) from the keys that lead to a place. */
export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The failing places that the issues of a parse name, at most `maximumFieldProblems`. */
export const fieldProblemsOf = (issues: readonly Issue[]): FieldProblem[] =>
  issues.flatMap((issue) => problemsOf(issue, [])).slice(0, maximumFieldProblems);

function problemsOf(issue: Issue, parents: readonly PropertyKey[]): FieldProblem[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return unionProblems(issue, path);
  if (issue.code === 'invalid_key') {
    const reason = issue.issues[0]?.message;
    return [{ pointer: pointerOf(path), message: reason ? `as a key ${reason}` : issue.message }];
  }
  return [{ pointer: pointerOf(path), message: issue.message }];
}

/**
 * The problems of a value that fits no branch of a union: those of the branch whose type it has, else
 * the types that there are.
 */
function unionProblems(
  issue: z.core.$ZodIssueInvalidUnion,
  path: readonly PropertyKey[],
): FieldProblem[] {
  const branches = issue.errors.filter((branch) => !branch.some(isWrongType));
  // A branch that has looked inside fits better than one that takes none of the values of its type.
  const inside = branches.filter((branch) => branch.every(({ path: inner }) => inner.length > 0));
  const fitting = inside.length > 0 ? inside : branches;
  const closest = fitting.toSorted((left, right) => left.length - right.length)[0];
  if (closest) return closest.flatMap((inner) => problemsOf(inner, path));
  const types = issue.errors.flatMap((branch) => branch.filter(isWrongType).map(expectedType));
  const message = types.includes('') ? issue.message : `must be ${listOf([...new Set(types)])}`;
  return [{ pointer: pointerOf(path), message }];
}

const isWrongType = (issue: Issue): boolean =>
  issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_union');

const expectedType = (issue: Issue): string =>
  issue.code === 'invalid_type' && issue.message !== 'is required' ? typeName(issue.expected) : '';
