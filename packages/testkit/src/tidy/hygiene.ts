import { isCode } from './names.ts';
import { matchesOf, type Rule, type Source, type Violation } from './source.ts';

/** From 300 lines on a file is asked whether it is two; at this many it is. */
const LINES_MAX = 500;

/** Unfinished work is written down where work is planned, not in the code. */
const UNFINISHED = /\b(?:TODO|FIXME|XXX|HACK)\b/g;

/** Folders of somebody's machine; what runs here must run anywhere. */
const MACHINE_PATHS = /(?<![\w.-])(?:\/work\/|\/root\/|\/home\/\w|\/Users\/\w|[A-Z]:\\Users)/g;

/**
 * Casts and comments that switch checking off. Declarations of such a type are left to the linter, which
 * accepts them with a reason.
 */
const UNCHECKED_TYPES = /\bas\s+any\b|<any>(?=\s*[\w([{])/g;
const UNCHECKED_COMMENTS = /@ts-(?:ignore|nocheck)\b/g;

/** The rules of this folder contain the words that they forbid. */
const RULES_FOLDER = 'packages/testkit/src/tidy/';

/** A file is short enough to be read in one go. */
export const filesAreShort: Rule = (sources) =>
  sources.flatMap(({ path, lineCount }) => {
    if (!isCode(path)) return [];
    if (lineCount <= LINES_MAX) return [];
    return [
      { path, line: LINES_MAX + 1, message: `${lineCount} lines; the limit is ${LINES_MAX}` },
    ];
  });

/** Names of code files are lower-case words joined by hyphens. */
export const namesAreUniform: Rule = (sources) =>
  sources.flatMap(({ path }) => {
    const name = path.split('/').at(-1) ?? '';
    if (!isCode(path) || /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z]+)+$/.test(name)) return [];
    return [{ path, line: 1, message: 'the name is not in kebab case' }];
  });

/** Nothing says that it is unfinished. In code only comments count: XXX is also a currency. */
export const nothingIsLeftUnfinished: Rule = (sources) =>
  everywhereBut(sources).flatMap((source) =>
    report(
      source,
      source.scanned?.comments ?? source.text,
      UNFINISHED,
      'says that it is unfinished',
    ),
  );

/** Nothing depends on where somebody keeps the checkout. */
export const noPathOfAMachine: Rule = (sources) =>
  everywhereBut(sources).flatMap((source) =>
    report(source, source.text, MACHINE_PATHS, 'names a folder of a machine'),
  );

/** Types are checked everywhere. */
export const nothingIsUnchecked: Rule = (sources) =>
  everywhereBut(sources).flatMap((source) => {
    if (source.scanned === undefined) return [];
    return [
      ...report(source, source.scanned.code, UNCHECKED_TYPES, 'switches type checking off'),
      ...report(source, source.scanned.comments, UNCHECKED_COMMENTS, 'switches type checking off'),
    ];
  });

/** uvu runs a suite only when it is told to, and an exclusive test silences all the others. */
export const everySuiteRuns: Rule = (sources) =>
  sources
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap((source) => {
      const code = source.scanned?.code ?? '';
      const suites = [...code.matchAll(/\b(?:const|let)\s+(\w+)\s*=\s*suite\b/g)];
      const idle = suites.filter(([, name]) => !new RegExp(`\\b${name}\\.run\\(`).test(code));
      return [
        ...idle.map((found) => ({
          path: source.path,
          line: code.slice(0, found.index).split('\n').length,
          message: `the suite ${found[1]} is never run`,
        })),
        ...report(source, code, /\b\w+\.only\(/g, 'keeps the other tests from running'),
      ];
    });

function everywhereBut(sources: readonly Source[]): Source[] {
  return sources.filter(({ path }) => !path.startsWith(RULES_FOLDER));
}

function report(source: Source, text: string, pattern: RegExp, message: string): Violation[] {
  return matchesOf(text, pattern).map(({ line, match }) => ({
    path: source.path,
    line,
    message: `${match.trim()} ${message}`,
  }));
}
