import { posix } from 'node:path';
import { isTest, sliceOf } from './names.ts';
import type { Import, Rule, Source, Violation } from './source.ts';

/**
 * The slices that each slice may import; there are no circles. A new slice adds its line here. Writes
 * across slices go through reactions, never through an import.
 */
const SLICES: Readonly<Record<string, readonly string[]>> = {
  pricing: [],
  tenancy: [],
  customers: [],
  meters: [],
  groups: [],
  'pricing-units': [],
  features: ['meters', 'groups'],
  entitlements: ['customers', 'features'],
  coupons: [],
  taxes: ['customers'],
  offers: ['pricing', 'meters', 'groups', 'pricing-units', 'features'],
  'catalog-transfer': [
    'groups',
    'meters',
    'pricing-units',
    'features',
    'coupons',
    'taxes',
    'offers',
  ],
  wallets: ['customers', 'pricing-units'],
  checkpoints: [],
  events: [],
};

/** The folder of code that several slices need and the kernel need not know. It is no slice and imports none. */
const SHARED = 'shared';

/** A slice imports only those slices that the table allows. */
export const slicesFormNoCircle: Rule = (sources) => [
  ...circlesOf(SLICES),
  ...acrossSlices(sources).flatMap(({ source, each, from, to }) => {
    if (from === undefined || to === SHARED || isTest(source.path)) return [];
    if (SLICES[from]?.includes(to)) return [];
    return [violation(source, each, `the slice ${from} may not import the slice ${to}`)];
  }),
];

/**
 * A slice shows others its index.ts and nothing else. The code that puts the slices together may also name
 * types inside them.
 */
export const slicesAreImportedThroughTheirIndex: Rule = (sources) =>
  acrossSlices(sources).flatMap(({ source, each, path, from, to }) => {
    if (from === undefined && each.isTypeOnly) return [];
    if (to === SHARED || path === `packages/modules/src/${to}/index.ts`) return [];
    return [violation(source, each, `import the slice ${to} through its index.ts`)];
  });

/** Every slice says what it is, shows an index, and has tests. */
export const everySliceIsComplete: Rule = (sources) => {
  const slices = new Map<string, Source[]>();
  for (const source of sources) {
    const slice = sliceOf(source.path);
    if (slice !== undefined && slice !== SHARED)
      slices.set(slice, [...(slices.get(slice) ?? []), source]);
  }
  return [...slices].flatMap(([slice, files]) => {
    const folder = `packages/modules/src/${slice}`;
    const has = (name: string): boolean => files.some(({ path }) => path === `${folder}/${name}`);
    const missing = [
      ...(has('README.md') ? [] : ['README.md']),
      ...(has('index.ts') ? [] : ['index.ts']),
      ...(files.some(({ path }) => path.endsWith('.test.ts')) ? [] : ['a test']),
      ...(slice in SLICES ? [] : ['its line in the table of slices (testkit/src/tidy/slices.ts)']),
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

/** A slice that reaches itself is part of a circle. */
export function circlesOf(slices: Readonly<Record<string, readonly string[]>>): Violation[] {
  const reaches = (from: string, wanted: string, seen: Set<string>): boolean =>
    (slices[from] ?? []).some((next) => {
      if (next === wanted) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, wanted, seen);
    });
  return Object.keys(slices)
    .filter((slice) => reaches(slice, slice, new Set()))
    .map((slice) => ({
      path: 'packages/testkit/src/tidy/slices.ts',
      line: 1,
      message: `the table of slices has a circle through ${slice}`,
    }));
}
