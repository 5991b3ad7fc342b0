import { posix } from 'node:path';
import { isTest, sliceOf } from './names.ts';
import type { Import, Rule, Source, Violation } from './source.ts';

/** The imports between slices, those of types too, lead to no circle. */
export const slicesFormNoCircle: Rule = (sources) => {
  const crossings = acrossSlices(sources).filter(({ source }) => !isTest(source.path));
  const imported = new Map<string, Set<string>>();
  for (const { from, to } of crossings) {
    if (from !== undefined) imported.set(from, (imported.get(from) ?? new Set()).add(to));
  }
  return crossings.flatMap(({ source, each, from, to }) =>
    from !== undefined && reaches(imported, to, from)
      ? [violation(source, each, `the slices ${from} and ${to} form a circle`)]
      : [],
  );
};

/** Tells whether imports lead from one slice to another. */
function reaches(
  imported: ReadonlyMap<string, ReadonlySet<string>>,
  from: string,
  wanted: string,
  seen = new Set<string>(),
): boolean {
  if (from === wanted) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(imported.get(from) ?? [])].some((next) => reaches(imported, next, wanted, seen));
}

/**
 * A slice shows others its index.ts and nothing else. The code that puts the slices together may also name
 * types inside them.
 */
export const slicesAreImportedThroughTheirIndex: Rule = (sources) =>
  acrossSlices(sources).flatMap(({ source, each, path, from, to }) => {
    if (from === undefined && each.isTypeOnly) return [];
    if (path === `packages/modules/src/${to}/index.ts`) return [];
    return [violation(source, each, `import the slice ${to} through its index.ts`)];
  });

/** Every slice says what it is, shows an index, and has tests. */
export const everySliceIsComplete: Rule = (sources) => {
  const slices = new Map<string, Source[]>();
  for (const source of sources) {
    const slice = sliceOf(source.path);
    if (slice !== undefined) slices.set(slice, [...(slices.get(slice) ?? []), source]);
  }
  return [...slices].flatMap(([slice, files]) => {
    const folder = `packages/modules/src/${slice}`;
    const has = (name: string): boolean => files.some(({ path }) => path === `${folder}/${name}`);
    const missing = [
      ...(has('README.md') ? [] : ['README.md']),
      ...(has('index.ts') ? [] : ['index.ts']),
      ...(files.some(({ path }) => path.endsWith('.test.ts')) ? [] : ['a test']),
    ];
    return missing.map((what) => ({ path: folder, line: 1, message: `the slice lacks ${what}` }));
  });
};

interface Crossing {
  readonly source: Source;
  readonly each: Import;
  /** Undefined for a file that lies beside the slices. */
  readonly from: string | undefined;
  readonly to: string;
  readonly path: string;
}

function acrossSlices(sources: readonly Source[]): Crossing[] {
  return sources
    .filter(({ path }) => path.startsWith('packages/modules/src/'))
    .flatMap((source) =>
      source.imports.flatMap((each) => {
        if (!each.target.startsWith('.')) return [];
        const path = posix.join(posix.dirname(source.path), each.target);
        const [from, to] = [sliceOf(source.path), sliceOf(path)];
        return to === undefined || to === from ? [] : [{ source, each, from, to, path }];
      }),
    );
}

function violation(source: Source, each: Import, message: string): Violation {
  return { path: source.path, line: each.line, message };
}
